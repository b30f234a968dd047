# typed: false
# frozen_string_literal: true

# SPDX-License-Identifier: MIT
# For Homebrew on Linux: copy this file into a tap, name an archive of `meson dist`, and install from the tap:
#     HOMEBREW_NEARMISS=$PWD/build/meson-dist/nearmiss-0.1.0.tar.xz brew install USER/TAP/nearmiss
class Nearmiss < Formula
  desc "Profiler of data locality"
  homepage "file:///usr/share/doc/nearmiss"
  url "file://#{ENV.fetch("HOMEBREW_NEARMISS", "nearmiss-0.1.0.tar.xz")}"
  license all_of: ["MIT", "GPL-2.0-or-later"]

  depends_on "go-md2man" => :build
  depends_on "meson" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on arch: :x86_64
  depends_on "bzip2"
  depends_on "capstone"
  depends_on "elfutils"
  depends_on "jansson"
  depends_on "libcyaml"
  depends_on "libmd"
  depends_on "libmicrohttpd"
  depends_on "libyaml"
  depends_on :linux
  depends_on "ncurses"
  depends_on "sqlite"
  depends_on "valgrind"
  depends_on "xz"
  depends_on "zlib"
  depends_on "zstd"

  # Homebrew's binutils have libiberty.a without its symbols.
  resource "binutils" do
    url "https://ftp.gnu.org/gnu/binutils/binutils-2.42.tar.bz2"
    sha256 "aa54850ebda5064c72cd4ec2d9b056c294252991486350d9a97ab2a6dfdfaf12"
  end

  def install
    iberty = buildpath/"iberty"
    resource("binutils").stage do
      cd "libiberty" do
        system "./configure", "--prefix=#{iberty}", "--libdir=#{iberty}/lib", "--enable-install-libiberty"
        system "make"
        system "make", "install"
      end
    end
    ENV.append "CFLAGS", "-I#{iberty}/include"
    ENV.append "LDFLAGS", "-L#{iberty}/lib"
    system "meson", "setup", "build", "-Dmpi=disabled", *std_meson_args
    system "meson", "compile", "-C", "build"
    system "meson", "install", "-C", "build"
  end

  test do
    (testpath/"sum.c").write "int a[100000]; int main(void) { int s = 0; for (int i = 0; i < 100000; i++) s += a[i]; return s; }"
    system ENV.cc, "-g", "sum.c", "-o", "sum"
    system bin/"nearmiss", "record", "-q", "-o", "sum.nmp", "--", "./sum"
    assert_match "sum.c:1", shell_output("#{bin}/nearmiss report lines -i sum.nmp")
  end
end
