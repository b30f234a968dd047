// SPDX-License-Identifier: MIT
//
// accounts.rs - sums balances again and again. Fault: they lie among the names and addresses of accounts. Repaired: they
// are a vector of their own.

#[allow(dead_code)]
struct Account {
    name: String,
    street: String,
    city: String,
    opened: [u32; 3],
    balance: i64,
    limit: i64,
}

fn main() {
    let accounts: Vec<Account> = (0..100_000u32)
        .map(|i| Account {
            name: format!("n{i}"),
            street: String::new(),
            city: String::new(),
            opened: [i, 2, 3],
            balance: i as i64,
            limit: 1000,
        })
        .collect();
    let mut overdrawn = 0;
    #[cfg(repaired)]
    let hot: Vec<(i64, i64)> = accounts.iter().map(|a| (a.balance, a.limit)).collect();
    for round in 0..20i64 {
        #[cfg(repaired)]
        for a in &hot {
            overdrawn += (a.0 + a.1 < round * 1000) as u32;
        }
        #[cfg(not(repaired))]
        for a in &accounts {
            overdrawn += (a.balance + a.limit < round * 1000) as u32;
        }
    }
    println!("{overdrawn} {}", accounts[7].name);
}
