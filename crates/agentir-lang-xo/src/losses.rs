//! Losses of platform exports: data besides the agents, which no target has a construct for.

use agentir_syntax::emit::LossRule;

/// A row. Where nothing can be done, nothing needs to be: the field is for XO alone.
const fn loss(path: &'static str, how: &'static str, help: &'static str) -> LossRule {
    let row = LossRule::dropped(path, how, help);
    if help.is_empty() { row.unneeded() } else { row }
}

/// A row for a field, wherever it occurs in the extensions of an export.
macro_rules! row {
    ($field:literal, $how:expr, $help:expr) => {
        loss(concat!("/**.kore-xo.**.", $field, ".**"), $how, $help)
    };
}

/// Fields that only the platform's editor uses.
macro_rules! editor {
    ($($field:literal)*) => {
        &[$(row!($field, "the editor and the database of XO only need it", "")),*]
    };
}

/// Ids, dates, positions in the editor: the bot's behaviour does not depend on them.
const EDITOR_FIELDS: &[LossRule] = editor! {
    "_id" "__v" "refId" "parentId" "streamId" "sceneRefId" "sceneId" "flowTaskId" "resourceid" "uId"
    "sId" "groupId" "categoryIds" "encryptedHash" "metadata" "positionMeta" "userUtterance" "state"
    "status" "createdOn" "createdBy" "createdById" "lModifiedOn" "lModBy" "lMod" "lastModifiedOn"
    "lastModifiedBy" "modifiedOn" "modifiedBy" "vNameSpace" "krVNameSpace" "evVNameSpace"
    "useTaskLevelNs" "namespaces" "color" "sBannerColor" "bBannerColor" "widgetThemes" "scenes"
    "sceneComponents" "exportOptions" "environmentVersionInfo" "serviceNodeType" "entityFields"
    "isDummy" "editLocked" "showInMp" "sendVcf" "featured" "class" "lname" "level" "connId"
    "pathName" "pathsMap" "skipMakeEditLinks" "assignAllChildBots" "recentBotLimit" "nlMeta"
    "validateOn" "validationType" "integrations" "formData" "isSecured" "rtmRenderType" "taskType" "isGraph"
    "taxonomy" "seq" "isSmalltalkMigrated" "errorCodes" "applyDefaultTemplate" "manageFirstMessage"
};

/// Platform features, each with what to do about it.
const PLATFORM_FEATURES: &[LossRule] = &[
    row!(
        "smallTalk",
        "of small talk, what users say and the first answer are kept",
        "add other answers to the instructions or the knowledge base, if they matter"
    ),
    row!("synonyms", "XO's own lists of synonyms train its classifier", ""),
    row!("mlParams", "how XO's classifier is trained", ""),
    row!("advancedNLSettings", "how XO's classifier is trained", ""),
    row!("confidenceConfigs", "how sure XO's classifier must be", ""),
    row!("spellcorrectThreshold", "how XO corrects spelling", ""),
    row!(
        "llmConfigsForStream",
        "which models XO uses for its own features",
        "name the models under `EXECUTION`"
    ),
    row!(
        "alternateAnswers",
        "a question has one answer",
        "add the others to the answer, or let the model word it"
    ),
    row!("knowledgeTasks", "what XO needs to find a question", ""),
    row!(
        "idpConfigurations",
        "how users log in is a profile of the new platform",
        "create an auth profile of the same name"
    ),
    row!(
        "interruptOptions",
        "whether a task may be interrupted is decided by `DIGRESSIONS`",
        "add `global_digressions` to the flows that users may leave"
    ),
    row!(
        "amendConfig",
        "whether answers may be corrected is said by each step",
        "add `CORRECTIONS: true` where users may"
    ),
    row!(
        "userInputCorrection",
        "whether answers may be corrected is said by each step",
        "add `CORRECTIONS: true` where users may"
    ),
    row!(
        "contextLifeTime",
        "session memory lives as long as the session",
        "add `RESET` to variables that are to be forgotten"
    ),
    row!(
        "ivrSettings",
        "voice is set up in the project",
        "set up the voice channel, and `VOICE` where it matters"
    ),
    row!(
        "ivrOptions",
        "voice is set up in the project",
        "set up the voice channel, and `VOICE` where it matters"
    ),
    row!(
        "welcomeIvrOptions",
        "voice is set up in the project",
        "set up the voice channel, and `VOICE` where it matters"
    ),
    row!(
        "channels",
        "channels are set up in the project",
        "connect the channels to the new project"
    ),
    row!(
        "sharedVariables",
        "session memory belongs to one agent; dialogs that call each other pass it on",
        "keep what dialogs that do not call each other share in persistent memory (`SCOPE: execution_tree`)"
    ),
    row!(
        "alternatives",
        "ABL says one text",
        "leave them out, or let the model word it: say so in `INSTRUCTIONS`"
    ),
    row!(
        "lifetimes",
        "session memory lives as long as the session, not for so many seconds",
        "clear the value when it is too old, if that matters"
    ),
    row!(
        "pii_pattern",
        "how XO hides the value in its logs",
        "set `sensitive: true` if the value is personal"
    ),
    row!(
        "visibilityRules",
        "when the field is shown",
        "give the field an `activation` with the condition"
    ),
    row!(
        "countryCode",
        "the country whose telephone numbers the field takes",
        "say it in the prompt, or validate the number"
    ),
    row!(
        "Noofprevioususerinputs",
        "how many of the last messages the model is given",
        "pass them to the tool, if the answer needs them"
    ),
    row!("components", "a form is sent by what the user says: its buttons are not needed", ""),
    row!("forms", "how XO shows the form", ""),
    row!(
        "unspokenLanguages",
        "the text is in a language that the bot does not speak",
        "add the language to the project if it is to speak it"
    ),
    row!(
        "otherTexts",
        "what is said in another language or channel at this place has no place of its own",
        "let the model translate it, or say it in a step, whose text a behaviour profile can change"
    ),
    row!(
        "onlyFor",
        "the text is said in every channel and language",
        "put it into a behaviour profile if it must not be"
    ),
    row!(
        "comments",
        "statements of ABL have no comments of their own",
        "write them as comments (`# …`)"
    ),
    row!(
        "sampleResponse",
        "an example of what the service answers",
        "say in the tool's signature what it returns"
    ),
    row!("widgets", "widgets belong to XO's own client", "build them as actions or rich content"),
    row!("panels", "panels belong to XO's own client", ""),
    row!("traits", "traits are decided by the model", "ask for them in `WHEN` conditions in words"),
    row!(
        "traitRules",
        "traits are decided by the model",
        "ask for them in `WHEN` conditions in words"
    ),
    row!("alerts", "alerts are tasks of XO's", "build them as a workflow that starts the agent"),
    row!("actions", "action tasks are tasks of XO's", "build them as tools"),
    row!(
        "koraResponses",
        "what XO says by itself is said by the model",
        "put texts that matter into `MESSAGES`"
    ),
    row!(
        "botEvents",
        "what happens at this event is not in `ON_START`, `ON_ERROR` or the routing",
        "handle it in a hook, if it matters"
    ),
    row!("nodeOptions", "how XO asks and waits", "say it in the step, if it matters"),
    row!(
        "files",
        "other files of the archive are not read",
        "scripts among them can become sandbox tools"
    ),
];

/// Everything else.
const FALLBACK: &[LossRule] = &[loss(
    "/**.kore-xo.**",
    "a setting of XO's that the language has no field for",
    "look up what it does in XO; if it matters, say it in `INSTRUCTIONS` or set it in the project",
)];

/// The rows, most specific first.
pub(crate) const LOSSES: &[&[LossRule]] = &[EDITOR_FIELDS, PLATFORM_FEATURES, FALLBACK];
