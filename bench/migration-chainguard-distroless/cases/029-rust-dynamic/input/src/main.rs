fn main() {
    println!("gauge {:?}", std::env::args().collect::<Vec<_>>());
}
