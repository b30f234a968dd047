// SPDX-License-Identifier: MIT
//
// transpose.rs - transposes a matrix. Fault: one of the two is walked down its columns, of 2,048 rows that are a power of
// two apart. Repaired: in tiles of 8 times 8.

const N: usize = 2048;

#[cfg(not(repaired))]
fn transpose(from: &[f32], to: &mut [f32]) {
    for i in 0..N {
        for j in 0..N {
            to[j * N + i] = from[i * N + j];
        }
    }
}

#[cfg(repaired)]
fn transpose(from: &[f32], to: &mut [f32]) {
    for bi in (0..N).step_by(8) {
        for bj in (0..N).step_by(8) {
            for i in bi..bi + 8 {
                for j in bj..bj + 8 {
                    to[j * N + i] = from[i * N + j];
                }
            }
        }
    }
}

fn main() {
    let from: Vec<f32> = (0..N * N).map(|i| i as f32).collect();
    let mut to = vec![0f32; N * N];
    transpose(&from, &mut to);
    println!("{}", to[12345]);
}
