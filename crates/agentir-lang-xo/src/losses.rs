//! Losses of platform exports: data besides the agents, which no target has a construct for.

use agentir_syntax::emit::LossRule;

/// A row for a field, wherever it occurs in the extensions of an export.
macro_rules! row {
    ($field:literal, $how:expr, $help:expr) => {
        LossRule::dropped(concat!("/**.kore-xo.**.", $field, ".**"), $how, $help)
    };
}

/// A row for a field that serves XO alone: its editor, its database, its classifier. Nobody who talks to the bot misses it.
macro_rules! unneeded {
    ($field:literal, $how:expr) => {
        row!($field, $how, "").unneeded()
    };
}

/// Fields that only the platform's editor uses.
macro_rules! editor {
    ($($field:literal)*) => {
        &[$(unneeded!($field, "the editor and the database of XO only need it")),*]
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

/// What nobody has decided: it is set aside when an export is read ([`crate::factory`]).
const UNDECIDED: &[LossRule] = &[
    unneeded!("factory", "as in every new bot: nobody has changed it"),
    unneeded!("disabled", "it is switched off in XO"),
];

/// What belongs to the questions that a bot answers.
const KNOWLEDGE: &[LossRule] = &[
    unneeded!("smallTalk.**.nodeId", "the editor and the database of XO only need it"),
    unneeded!("smallTalk.**.language", "the language of the small talk, once more"),
    unneeded!("smallTalk.**.count", "the editor and the database of XO only need it"),
    unneeded!("knowledgeTasks.**.terms", "what XO needs to find a question"),
    unneeded!("knowledgeTasks.*.language", "what XO needs to find a question"),
    row!(
        "knowledgeTasks.**.conditionalAnswer",
        "the answer to a question has no condition",
        "answer the question in a flow, if what is answered depends on something"
    ),
    row!(
        "knowledgeTasks.**.answer",
        "a question has one fixed answer: none that is computed, and none for another channel or language",
        "add what matters to the answer, or answer the question in a flow"
    ),
    row!(
        "knowledgeTasks.**.question",
        "questions without a fixed answer are left out",
        "write an answer in words, or answer the question in a flow that calls a tool"
    ),
];

/// Platform features, each with what to do about it.
const PLATFORM_FEATURES: &[LossRule] = &[
    unneeded!("component.name", "the editor's name of what is a step, or several"),
    unneeded!("component.localeData.*.label", "the name that the editor shows"),
    unneeded!("intent.localeData.*.label", "the name that the editor shows"),
    unneeded!(
        "intent.localeData.*.desc",
        "the model reads one description of an intent, whatever language the user speaks"
    ),
    unneeded!("sentences.*.language", "examples in all languages stand together"),
    unneeded!("patterns.*.taskName", "the name of the dialog, once more"),
    unneeded!("nlpVersion", "which version of XO's classifier was trained"),
    row!(
        "smallTalk",
        "of small talk, what users say and the first answer are kept",
        "add other answers to the instructions or the knowledge base, if they matter"
    ),
    row!(
        "synonyms",
        "a model needs no lists of synonyms, but for words that only these users know",
        "say in `INSTRUCTIONS` what such words mean"
    ),
    unneeded!("mlParams", "how XO's classifier is trained"),
    unneeded!("advancedNLSettings", "how XO's classifier is trained"),
    unneeded!("confidenceConfigs", "how sure XO's classifier must be"),
    unneeded!("spellcorrectThreshold", "how XO corrects spelling"),
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
    row!(
        "components",
        "a form is filled in by what the user says: what is no field of it is not there",
        "say in a prompt what its notes say"
    ),
    row!(
        "forms",
        "its fields are asked for: nothing shows the form itself",
        "say in a prompt what its heading says, if that matters"
    ),
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
    row!(
        "preBuiltIntegrations",
        "connections to other services are set up in the project",
        "create the auth profile that the tools of this service need"
    ),
    row!("widgets", "widgets belong to XO's own client", "build them as actions or rich content"),
    row!("panels", "panels belong to XO's own client", "build them as actions or rich content"),
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
const FALLBACK: &[LossRule] = &[LossRule::dropped(
    "/**.kore-xo.**",
    "a setting of XO's that the language has no field for",
    "look up what it does in XO; if it matters, say it in `INSTRUCTIONS` or set it in the project",
)];

/// The rows, most specific first.
pub(crate) const LOSSES: &[&[LossRule]] =
    &[UNDECIDED, EDITOR_FIELDS, KNOWLEDGE, PLATFORM_FEATURES, FALLBACK];
