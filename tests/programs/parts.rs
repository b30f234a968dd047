// SPDX-License-Identifier: MIT
//
// parts.rs - vectors of vectors, boxes and strings: what the vectors hold are objects of their own.

#[derive(Clone, Default)]
struct Point {
    x: f64,
    y: f64,
    z: f64,
}

fn main() {
    let rows: Vec<Vec<f64>> = vec![vec![1.0; 100]; 2000];
    let boxes: Vec<Box<Point>> = (0..5000).map(|_| Box::new(Point::default())).collect();
    let mut cells: Vec<Vec<Point>> = Vec::new();
    for _ in 0..1000 {
        cells.push(vec![Point::default(); 50]);
    }
    let mut sum = 0.0;
    for i in 0..1000 {
        sum += rows[i][i % 100] + boxes[i].z + cells[i][i % 50].y + cells[i][0].x;
    }
    println!("{}", sum);
}
