//! The order in which the statements of a body run.

use agentir_ir::{Body, Statement};

/// The statements of a body with their places among its keys. What acts (responds, gathers, calls, checks, hands over,
/// branches, jumps) runs in ABL's order, however it is written. `SET`, `CLEAR`, `TRANSFORM` and `LOG` have no place in that
/// order (§3.14); they run where they are written: after all that is written above them, so that a `SET` below a `CALL`
/// reads its result (§3.14.9).
pub(super) struct Written {
    /// What acts, in ABL's order.
    acts: Vec<(usize, Statement)>,
    /// What runs where it is written, in that order.
    placed: Vec<(usize, Statement)>,
}

impl Written {
    /// Begins with what runs where it is written.
    pub(super) fn new(mut placed: Vec<(usize, Statement)>) -> Self {
        placed.sort_by_key(|(at, _)| *at);
        Self { acts: Vec::new(), placed }
    }

    /// Adds what acts next. What is written at no key of its own begins the body.
    pub(super) fn act(&mut self, at: Option<usize>, statement: Statement) {
        self.acts.push((at.unwrap_or_default(), statement));
    }

    /// Adds what comes last, wherever it is written.
    pub(super) fn end(&mut self, statement: Statement) {
        self.acts.push((usize::MAX, statement));
    }

    /// Whether anything that runs where it is written stands between these places.
    pub(super) fn has_between(&self, from: usize, to: usize) -> bool {
        self.placed.iter().any(|(at, _)| (from..to).contains(at))
    }

    /// What stands between an act and its follow-ups runs before them, whichever follows: they begin with it. Where an
    /// outcome has no follow-up, execution continues behind the act, with what stands there; what `must_succeed` has no
    /// such failure.
    pub(super) fn begin_follow_ups(
        &mut self,
        act: usize,
        must_succeed: bool,
        success: (Option<usize>, &mut Body),
        failure: (Option<usize>, &mut Body),
    ) {
        let Some(last) = success.0.max(failure.0) else { return };
        let (between, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.placed)
            .into_iter()
            .partition(|(at, _)| act < *at && *at < last);
        self.placed = others;
        if between.is_empty() {
            return;
        }
        let statements = |all: &[(usize, Statement)]| -> Vec<Statement> {
            all.iter().map(|(_, statement)| statement.clone()).collect()
        };
        let mut stays = false;
        let falls = [success.1.falls_through(), failure.1.falls_through()];
        for (n, (key, body)) in [success, failure].into_iter().enumerate() {
            match key {
                Some(key) => {
                    let (above, below) =
                        between.split_at(between.partition_point(|(at, _)| *at < key));
                    body.0.splice(0..0, statements(above));
                    body.0.extend(statements(below));
                }
                None if n == 1 && must_succeed => {}
                // Behind the act, where the other outcome does not come.
                None if falls.get(1 - n) == Some(&false) => stays = true,
                None => body.0.extend(statements(&between)),
            }
        }
        if stays {
            self.placed.extend(between);
            self.placed.sort_by_key(|(at, _)| *at);
        }
    }

    /// The response to a call is given after it, if it is written after it.
    pub(super) fn respond_after_call(&mut self) {
        let at = |acts: &[(usize, Statement)], is: fn(&Statement) -> bool| {
            acts.iter().position(|(_, statement)| is(statement))
        };
        let says = at(&self.acts, |s| matches!(s, Statement::Respond(_)));
        let calls = at(&self.acts, |s| matches!(s, Statement::Call(_)));
        if let (Some(says), Some(calls)) = (says, calls)
            && let [Some(response), Some(call)] = [self.acts.get(says), self.acts.get(calls)]
            && call.0 < response.0
            && says < calls
        {
            let response = self.acts.remove(says);
            // The removal has shifted the call by one.
            self.acts.insert(calls, response);
        }
    }

    pub(super) fn into_statements(self) -> Vec<Statement> {
        let mut placed = self.placed.into_iter().peekable();
        // How many acts come before: all up to the last one that is written above.
        let places: Vec<usize> = self.acts.iter().map(|(at, _)| *at).collect();
        let after = |place: usize| places.iter().rposition(|at| *at < place).map_or(0, |n| n + 1);
        let mut all = Vec::with_capacity(places.len());
        for (n, (_, act)) in self.acts.into_iter().enumerate() {
            while let Some((_, statement)) = placed.next_if(|(at, _)| after(*at) <= n) {
                all.push(statement);
            }
            all.push(act);
        }
        all.extend(placed.map(|(_, statement)| statement));
        all
    }
}
