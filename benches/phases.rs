//! `cargo bench`; the same as `cargo xtask bench`.

/// The allocator of the program that is measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    print!("{}", agentir_bench::measure::table(&agentir_bench::measure::Options::default()));
}
