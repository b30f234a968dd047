// SPDX-License-Identifier: MIT
//
// trie.rs - counts words in a trie. Fault: a node has 26 pointers, of which few are used. Repaired: a sorted vector of words.

#[cfg(not(repaired))]
#[derive(Default)]
struct Node {
    children: [Option<Box<Node>>; 26],
    count: u32,
}

fn word(state: &mut u32) -> Vec<u8> {
    (0..6)
        .map(|_| {
            *state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            ((*state >> 24) % 26) as u8
        })
        .collect()
}

#[cfg(not(repaired))]
fn main() {
    let mut root = Node::default();
    let mut most = 0;
    for round in 0..4 {
        let mut state = 1;
        for _ in 0..20_000 {
            let mut node = &mut root;
            for letter in word(&mut state) {
                node = node.children[letter as usize].get_or_insert_with(Default::default);
            }
            node.count += 1;
            most = most.max(node.count + round);
        }
    }
    println!("{most}");
}

#[cfg(repaired)]
fn main() {
    let mut counts: std::collections::HashMap<u64, u32> = Default::default();
    let mut most = 0;
    for round in 0..4 {
        let mut state = 1;
        for _ in 0..20_000 {
            let key = word(&mut state).iter().fold(0u64, |key, &l| key << 8 | l as u64);
            let count = counts.entry(key).or_default();
            *count += 1;
            most = most.max(*count + round);
        }
    }
    println!("{most}");
}
