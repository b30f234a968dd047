// SPDX-License-Identifier: MIT
//! Looks entries up through boxes of their own.

pub struct Entry {
    pub key: i64,
    pub rest: [i64; 4],
}

pub fn entries(count: i64) -> Vec<Box<Entry>> {
    (0..count).map(|key| Box::new(Entry { key, rest: [0; 4] })).collect()
}

#[inline(never)]
pub fn look_up(entries: &[Box<Entry>], weights: &[i64]) -> i64 {
    let mut sum = 0;
    for (entry, weight) in entries.iter().zip(weights) {
        sum += entry.key * weight;
    }
    sum
}
