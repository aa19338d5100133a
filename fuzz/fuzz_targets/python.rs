#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    let input = agentir_tests::fuzz::input("python");
    agentir_tests::fuzz::read(input, text);
    agentir_tests::fuzz::layout(input, text);
    agentir_tests::fuzz::write(input, text);
});
