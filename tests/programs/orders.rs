// SPDX-License-Identifier: MIT
//
// orders.rs - structures on the heap as in Rust programs: in a box, in vectors that are made at once, grown or
// collected, in a vector of boxes, reference-counted, and in a map; and on the stack.
//
// Each is walked often enough to be sampled; the figures of fields follow from the loops.
use std::collections::HashMap;
use std::rc::Rc;

const COUNT: usize = 4000;
const WALKS: usize = 10;

#[derive(Clone)]
pub struct Order {
    pub number: u64,
    pub price: u64,
    pub text: [u8; 48],
}

#[repr(C)] // else the compiler chooses the order of the fields
pub struct Client {
    pub key: u64,
    pub orders: [u32; 8],
    pub next: Option<Box<Client>>,
}

pub struct Part {
    pub weight: f64,
    pub place: (f64, f64),
}

pub struct Ware {
    pub shelf: u64,
    pub stock: u64,
}

pub struct Rate {
    pub day: u64,
    pub value: [f64; 5],
}

fn order(i: usize) -> Order {
    Order { number: i as u64, price: 3, text: [0; 48] }
}

#[inline(never)]
fn grown() -> Vec<Order> {
    let mut all = Vec::new();
    for i in 0..COUNT {
        all.push(order(i));
    }
    all
}

#[inline(never)]
fn made_at_once() -> Vec<Part> {
    let mut all = Vec::with_capacity(COUNT);
    for i in 0..COUNT {
        all.push(Part { weight: i as f64, place: (1.0, 2.0) });
    }
    all
}

#[inline(never)]
fn collected() -> Vec<Rate> {
    (0..COUNT).map(|i| Rate { day: i as u64, value: [1.0; 5] }).collect()
}

#[inline(never)]
fn dependent() -> Option<Box<Client>> {
    let mut first = None;
    for i in 0..COUNT {
        first = Some(Box::new(Client { key: i as u64, orders: [1; 8], next: first }));
    }
    first
}

#[inline(never)]
fn shared() -> Vec<Rc<Ware>> {
    let mut all = Vec::with_capacity(COUNT);
    for i in 0..COUNT {
        all.push(Rc::new(Ware { shelf: i as u64, stock: 7 }));
    }
    all
}

#[inline(never)]
fn walk(orders: &[Order], parts: &[Part], rates: &[Rate], wares: &[Rc<Ware>]) -> u64 {
    let mut sum = 0;
    for o in orders {
        sum += o.number + o.price;
    }
    for p in parts {
        sum += p.place.1 as u64;
    }
    for r in rates {
        sum += r.value[4] as u64;
    }
    for w in wares {
        sum += w.stock;
    }
    sum
}

#[inline(never)]
fn follow(mut client: &Option<Box<Client>>) -> u64 {
    let mut sum = 0;
    while let Some(c) = client {
        sum += c.key;
        client = &c.next;
    }
    sum
}

#[inline(never)]
fn look_up(names: &HashMap<u64, Order>) -> u64 {
    (0..COUNT as u64).map(|i| names[&i].price).sum()
}

#[derive(Clone, Copy)]
pub struct Bin {
    pub count: u64,
    pub sum: u64,
}

#[inline(never)]
fn fill(bins: &mut [Bin; 64], first: usize) {
    for i in 0..COUNT {
        let bin = &mut bins[(first + i * 7) % 64];
        bin.count += 1;
        bin.sum += i as u64;
    }
}

#[inline(never)]
fn bins(first: usize) -> u64 {
    let mut bins = [Bin { count: 0, sum: 0 }; 64];
    fill(&mut bins, first);
    bins[first % 64].sum + bins[3].count
}

fn main() {
    let mut sum: u64 = (0..WALKS).map(bins).sum();
    let (orders, parts, rates, wares, clients) = (grown(), made_at_once(), collected(), shared(), dependent());
    let names: HashMap<u64, Order> = orders.iter().map(|o| (o.number, o.clone())).collect();
    for _ in 0..WALKS {
        sum += walk(&orders, &parts, &rates, &wares) + follow(&clients) + look_up(&names);
    }
    println!("{}", sum);
}
