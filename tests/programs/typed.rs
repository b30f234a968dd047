// SPDX-License-Identifier: MIT
//! A structure of which two fields are used: what a declaration of each looks like.
struct Record {
    name: [u8; 96],
    price: f64,
    counts: [u32; 2],
    #[allow(dead_code)]
    label: String,
    #[allow(dead_code)]
    links: [Option<u64>; 4],
}

const FIRST: Record = Record { name: [0; 96], price: 1.0, counts: [1; 2], label: String::new(), links: [None, None, None, None] };
static mut RECORDS: [Record; 4000] = [FIRST; 4000];

fn main() {
    let records = unsafe { &mut *std::ptr::addr_of_mut!(RECORDS) };
    let mut sum = 0.0;
    for _ in 0..10 {
        for record in records.iter() {
            sum += record.price * f64::from(record.counts[1]);
        }
    }
    records[1].name[1] = 1;
    println!("{sum} {}", records[1].name[0]);
}
