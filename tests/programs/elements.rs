// SPDX-License-Identifier: MIT
//! Instructions of a small machine, large variants of an enumeration, of which a search looks at the kinds only; with an
//! argument the kinds lie in a vector of their own.
#[derive(Clone)]
enum Instruction {
    Accept,
    Jump(u64),
    Ranges([u64; 14]),
}

const COUNT: usize = 4096;

fn make(i: usize) -> Instruction {
    match i % 3 {
        0 => Instruction::Ranges([i as u64; 14]),
        1 => Instruction::Jump(i as u64),
        _ => Instruction::Accept,
    }
}

fn is_jump(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Jump(_)) // @kind
}

fn main() {
    let apart = std::env::args().len() > 1;
    let instructions: Vec<Instruction> = (0..COUNT).map(make).collect();
    let jumps: Vec<bool> = instructions.iter().map(is_jump).collect();
    let mut sum = 0usize;
    for walk in 0..20 {
        if apart {
            sum += jumps.iter().filter(|jump| **jump).count() * walk;
        } else {
            sum += instructions.iter().filter(|i| is_jump(i)).count() * walk;
        }
    }
    let mut last = 0;
    match &instructions[COUNT - 1] {
        Instruction::Ranges(ranges) => last = ranges[3],
        Instruction::Jump(to) => last = *to,
        Instruction::Accept => (),
    }
    println!("{sum} {last}");
}
