# SPDX-License-Identifier: MIT
# nix-build packaging/nix, from an archive of `meson dist`, which holds the pages; a checkout gives the command without them.
{ pkgs ? import <nixpkgs> { } }:
pkgs.stdenv.mkDerivation {
  pname = "nearmiss";
  version = "0.1.0";
  src = pkgs.lib.cleanSource ../..;
  nativeBuildInputs = with pkgs; [ go-md2man meson ninja pkg-config python3 ];
  buildInputs = with pkgs; [
    bzip2 capstone elfutils jansson libcyaml libiberty libmd libmicrohttpd libyaml ncurses sqlite valgrind xz zlib zstd
  ];
  mesonFlags = [ "-Dmpi=disabled" ];
  hardeningDisable = [ "all" ]; # the collector is linked with Valgrind's core, which has no C library
  dontStrip = true; # Valgrind reads the collector's symbols
  postPatch = "patchShebangs tools web tests";
  postInstall = ''
    ln -s ${pkgs.valgrind}/bin/valgrind $out/libexec/nearmiss/valgrind/valgrind.bin
  '';
  meta = {
    description = "Profiler of data locality";
    license = with pkgs.lib.licenses; [ mit gpl2Plus ];
    platforms = [ "x86_64-linux" ];
    mainProgram = "nearmiss";
  };
}
