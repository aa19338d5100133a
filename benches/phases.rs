//! `cargo bench`; the same as `cargo xtask bench`.

fn main() {
    print!("{}", agentir_bench::measure::table(&agentir_bench::measure::Options::default()));
}
