#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| agentir_tests::fuzz::everything("abl", text));
