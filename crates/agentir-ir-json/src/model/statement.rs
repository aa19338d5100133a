//! Statements.

use crate::describe::*;
use agentir_ir::{
    ActionElement, ActionHandler, Actions, Branch, Call, Collect, Decider, Delegation, Jump,
    Response, SetVariable, SortBy, Statement, Transform,
};

object! {
    /// A list pipeline (ABL §3.14.11).
    Transform = "Transform" {
        /// The list.
        source as "source": required;
        /// The name of the current item in the other fields.
        item_var as "item_var": required;
        /// The variable that receives the result.
        target as "target": required;
        /// Keeps only items for which this holds.
        filter as "filter": optional;
        /// The fields of each resulting item.
        map as "map": list;
        /// The sort order.
        sort_by as "sort_by": optional;
        /// The maximum number of items.
        limit as "limit": optional;
    }
    span span;
}

object! {
    /// The sort order of a [`Transform`].
    SortBy = "SortBy" {
        /// The field to sort by.
        field as "field": required;
        /// `asc` or `desc`.
        order as "order": default("asc") in &["asc", "desc"];
    }
}

object! {
    /// A message to the user.
    Response = "Response" {
        /// The text; may be absent if there is a message key or rich content.
        text as "text": optional;
        /// The named template: `TEMPLATE(name)`.
        template as "template": optional;
        /// The key into the agent's messages.
        message_key as "message_key": optional;
        /// Settings for speech output.
        voice_config as "voice_config": optional;
        /// Rich content for channels that show more than text.
        rich_content as "rich_content": optional;
        /// Buttons and inputs shown with the message.
        actions as "actions": optional;
    }
}

object! {
    /// Buttons, menus and inputs shown with a message.
    Actions = "Actions" {
        /// The elements, in order.
        elements as "elements": default(Default::default());
        /// The label of the button that submits them.
        submit_label as "submit_label": optional;
        /// Its id.
        submit_id as "submit_id": optional;
        /// The id under which the client renders them.
        render_id as "renderId": optional;
    }
}

object! {
    /// One button, menu or input.
    ActionElement = "ActionElement" {
        /// The id that handlers refer to.
        id as "id": optional;
        /// `button`, `select`, `input`, …
        kind as "type": required;
        /// The label.
        label as "label": optional;
        /// The submitted value.
        value as "value": optional;
        /// The options of a menu.
        options as "options": optional;
        /// `text`, `number`, `date`, …
        input_type as "input_type": optional;
        /// The placeholder of an empty input.
        placeholder as "placeholder": optional;
        /// A description.
        description as "description": optional;
        /// The URL a button opens.
        url as "url": optional;
        /// Whether the input is required.
        required as "required": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
}

object! {
    /// The handler of a button or input.
    ActionHandler = "ActionHandler" {
        /// The id of the element.
        action_id as "action_id": required;
        /// The condition.
        condition as "condition": optional;
        /// The statements.
        body as "body": flat;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
}

object! {
    /// Collecting fields from the user.
    Collect = "Collect" {
        /// The message before collecting.
        present as "present": optional;
        /// The fields.
        gather as "gather": default(Default::default());
        /// Whether the user may correct earlier answers.
        corrections as "corrections": optional;
        /// Collecting ends when this holds.
        complete_when as "complete_when": optional;
        /// Runs after all fields are collected.
        on_success as "on_success": list;
        /// Runs after the attempts are used up.
        on_failure as "on_failure": list;
    }
    span span;
}

object! {
    /// A branch.
    Branch = "Branch" {
        /// The condition; absent for `ELSE`.
        condition as "condition": optional;
        /// The statements.
        body as "body": flat;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
}

object! {
    /// A delegation or handoff by a statement.
    Delegation = "Delegation" {
        /// The agent.
        agent as "agent": named;
        /// Whether control returns.
        returns as "return": optional;
        /// Who decides that it happens.
        decided_by as "decided_by": default(Decider::Always);
        /// Values bound to the other agent's variables.
        bindings as "bindings": list;
    }
}

tagged! {
    /// A statement.
    Statement = "Statement" by "type" {
        /// Assigns a value to a variable.
        Set = "set" as SetVariable;
        /// Clears variables.
        Clear = "clear" {
            /// The names or paths.
            variables as "variables": required;
        };
        /// Filters, maps, sorts and limits a list.
        Transform = "transform" as Transform;
        /// Writes to the log.
        Log = "log" {
            /// The value.
            value as "value": required;
        };
        /// Sends a message to the user.
        Respond = "respond" as Response;
        /// Adds to the model's instructions.
        Instruct = "instruct" {
            /// The text.
            text as "text": required;
        };
        /// Collects fields from the user.
        Collect = "collect" as Collect;
        /// Calls a tool.
        Call = "call" as Box<Call>;
        /// Checks a condition and jumps if it does not hold.
        Check = "check" {
            /// The condition.
            condition as "condition": required;
            /// The jump taken if it does not hold.
            otherwise as "otherwise": optional;
        };
        /// Waits for the user's next message and takes the first branch whose condition holds.
        Await = "await" {
            /// The branches, in order.
            branches as "branches": required;
        };
        /// Takes the first branch whose condition holds.
        If = "if" {
            /// The branches, in order.
            branches as "branches": required;
        };
        /// Delegates to another agent; control returns.
        Delegate = "delegate" as Delegation;
        /// Hands the conversation over to another agent.
        Handoff = "handoff" as Delegation;
        /// Hands the conversation over to a human.
        Escalate = "escalate" {
            /// The reason, the priority and the like.
            details as "details": optional;
            ; span
        };
        /// Jumps.
        Goto = "goto" as Jump;
        /// Jumps, at most this many times while the agent runs; after that, execution continues with the
        /// next statement.
        Repeat = "repeat" {
            /// The target.
            jump as "jump": required;
            /// The maximum number of jumps.
            times as "times": required;
        };
        /// A statement that AgentIR does not model, kept as data.
        Other = "other" {
            /// Its keyword.
            keyword as "keyword": required;
            /// Its value.
            value as "value": required;
            ; span
        };
    }
}
