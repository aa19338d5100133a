//! Checks an agent in memory, and prints its findings with the positions that an editor expects.

use agentir::Workspace;
use agentir::diagnostics::PositionEncoding;
use std::error::Error;

const AGENT: &str = "AGENT: Pool
GOAL: \"Book a lane\"

ON_START:
  RESPOND: \"🏊 Hello, {{guest}}\"
  CALL: book_line()
";

fn main() -> Result<(), Box<dyn Error>> {
    let mut workspace = Workspace::in_memory();
    workspace.set_text("pool.agent.abl", AGENT);
    let snapshot = workspace.snapshot()?;
    for finding in snapshot.check()? {
        let span = finding.primary.span;
        let file = snapshot.sources().get(span.file).ok_or("a finding without a file")?;
        let start = file.position(span.start, PositionEncoding::Utf16);
        println!(
            "{}:{}:{}: {} `{}`",
            file.name,
            start.line,
            start.character,
            finding.rule.0,
            file.slice(span)
        );
    }
    Ok(())
}
