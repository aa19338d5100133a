//! What an export says because the editor writes it: the values that settings have until somebody changes them, and the
//! synonyms that every bot begins with. As long as they are unchanged, nobody decided anything, so nobody has to look at
//! them.

/// A setting: the end of its path (lists have no part in it, `*` is any name), and its value as a text.
pub(crate) type Setting = (&'static str, &'static str);

/// The settings with their values in a new bot.
pub(crate) const SETTINGS: &[Setting] = &[
    // Of nodes.
    ("nodeOptions.promptOptions", "required"),
    ("nodeOptions.transitionType", "auto"),
    ("nodeOptions.transitionMode", "initiateCurrentTask"),
    ("nodeOptions.precedence", "entityOverIntent"),
    ("nodeOptions.userInputCorrection", "true"),
    ("nodeOptions.noAutoCorrection", "false"),
    ("nodeOptions.inputHandlingOptions", "useAsEntityValue"),
    ("nodeOptions.isOptional", "false"),
    ("nodeOptions.isRetriesExceeded", "false"),
    ("nodeOptions.notForReuse", "false"),
    ("nodeOptions.reuseMarkedupPhrases", "false"),
    ("nodeOptions.reuseOptions", "1"),
    ("nodeOptions.interruptOptions.priority", "task"),
    ("nodeOptions.interruptOptions.interruptsEnabled", "true"),
    ("nodeOptions.eventOptions.defaultMaxRetry.action", "endOfDialog"),
    // Of components.
    ("component.isSensitive", "false"),
    ("component.piiDataEnabled", "false"),
    ("intent.isSensitive", "false"),
    ("intent.piiDataEnabled", "false"),
    ("isSensitive", "false"),
    ("piiDataEnabled", "false"),
    ("ivrOptions.advance.bargein", "false"),
    ("ivrOptions.advance.enable_log", "false"),
    ("ivrOptions.advance.recording", "stop"),
    ("ivrOptions.advance.retry_limit", "3"),
    ("ivrOptions.advance.timeout", "10000"),
    ("endPoint.connectorEnabled", "false"),
    ("endPoint.piiDataEnabled", "false"),
    ("serviceType", "rest"),
    ("runCustomScript.enable", "false"),
    ("timeOutError.closeConversation", "true"),
    ("generativeAI.settings.isCustom", "false"),
    ("sampleResponse.isDefault", "true"),
    ("sampleResponse.name", "sampleResponse"),
    // Of forms.
    ("forms.type", "regular"),
    ("forms.components.metaData.isVisible", "true"),
    ("forms.components.metaData.required", "false"),
    // Of dialogs.
    ("amendConfig.priority", "bot"),
    ("contextLifeTime.options", "close"),
    ("interruptOptions.priority", "bot"),
    ("isAbandonment", "false"),
    ("isFollowUp", "true"),
    ("useTaskLevelNs", "true"),
    ("groups.name", "Group Name"),
    // Of the bot.
    ("type", "default"),
    ("purpose", "customer"),
    ("detectMultiIntent", "false"),
    ("enableAutoUtteranceAddition", "false"),
    ("enableInputTranslation", "false"),
    ("enableNegativePatterns", "false"),
    ("hasUserEndpoint", "false"),
    ("interruptsEnabled", "true"),
    ("isCsMatchEnabled", "false"),
    ("isDeflect", "false"),
    ("isNLEnabled", "true"),
    ("isSmartAssist", "false"),
    ("notifyUserViaEmail", "true"),
    ("offKoraConfirmation", "false"),
    ("clearAllAuthTokens", "false"),
    ("sessionClosureProcess", "1"),
    ("skipSessionMessage", "false"),
    ("strict_pii", "false"),
    ("interruptOptions.faqBehaviour", "respondAndResume"),
    ("interruptOptions.smallTalkBehaviour", "respondAndResume"),
    ("interruptOptions.interruptsEnabled", "true"),
    ("interruptOptions.type.option", "developer"),
    ("interruptOptions.holdUxOptions.option", "discardCurrTaskNoNotify"),
    ("interruptOptions.numTasksToHold", "1"),
    ("interruptOptions.showAmbiguous", "true"),
    ("languagePreferences.type", "perVolley"),
    ("languageConfigurations.*.enabled", "true"),
    ("multiLingualConfigurations.*.inputTranslation", "false"),
    ("multiLingualConfigurations.*.responseTranslation", "false"),
    ("botEvents.*.script", "."),
    (
        "localeData.*.description",
        "Use this option when none of the predefined purposes match your bot’s purpose.",
    ),
    ("llmConfigsForStream.featureList.name", "conversationsummary"),
    ("llmConfigsForStream.featureList.displayName", "Kore XO GPT - Summarizing Conversation"),
    ("llmConfigsForStream.featureList.defaultModel", "Summarizing Conversation"),
    ("llmConfigsForStream.featureList.integration", "korexo"),
    ("llmConfigsForStream.featureList.enable", "true"),
    // Of what is said and asked.
    ("knowledgeTasks.faqs.nodes.enableContext", "false"),
    ("knowledgeTasks.faqs.nodes.termStatus", "true"),
    ("knowledgeTasks.faqs.unmappedpath.enableContext", "false"),
    ("knowledgeTasks.faqs.unmappedpath.termStatus", "true"),
    ("smallTalk.groups.nodes.botUtterances.channel", "default"),
    ("smallTalk.groups.nodes.botUtterances.type", "basic"),
    ("patterns.nodeType", "dialog"),
];

/// Whether a setting, by its path, has the value that it has in a new bot.
pub(crate) fn is_setting(path: &[&str], value: &str) -> bool {
    SETTINGS.iter().any(|(end, default)| *default == value && ends_with(path, end))
}

fn ends_with(path: &[&str], end: &str) -> bool {
    let mut names = path.iter().rev();
    end.rsplit('.').all(|wanted| names.next().is_some_and(|name| wanted == "*" || *name == wanted))
}

/// The synonyms of a new bot: what they are for, and a digest of the words ([`digest`]), for each version of the editor.
pub(crate) const SYNONYMS: &[(&str, u64)] = &[
    ("add", 0x4935_e67d_70d5_0721),
    ("alter", 0xc6ed_bd31_6a20_e714),
    ("comment", 0x394a_ee9b_d88a_115f),
    ("create", 0x3e6e_588b_a19e_e677),
    ("customer", 0xd40c_9b97_7e67_7f09),
    ("delete", 0x6609_54f8_e302_9f21),
    ("get", 0x7945_3e05_1357_a14a),
    ("info", 0x9ca7_fbd0_ba2e_0a47),
    ("item", 0xed61_8b4a_9926_5be6),
    ("list", 0x7db8_800f_0c07_874e),
    ("pick", 0x811e_8e0d_909e_5c20),
    ("post", 0xccff_8bfe_d8f0_9ff6),
    ("rank", 0x29be_2efe_a219_825e),
    ("recent", 0xf063_1719_3949_45af),
    ("request", 0x56a0_e5d1_c1ce_1e44),
    ("top", 0x274e_7ccc_9cf6_1420),
    ("~done", 0xf78c_cfb5_8999_7df1),
    ("~emogoodbye", 0x1881_a9d5_9feb_75f2),
    ("~emogoodbye", 0x192a_0b1b_c4a7_28c2),
    ("~emohappy", 0x8d46_8788_d625_6a68),
    ("~emohello", 0xb46a_bc8b_3627_886b),
    ("~emohello", 0xd83e_4ef4_ba33_1a27),
    ("~emohowzit", 0xb666_8369_885e_05c0),
    ("~helpwords", 0x5b58_8ada_c916_8f6c),
    ("~ibedone", 0x22b4_31dc_d131_8058),
    ("~no", 0xaa55_76a7_b8bb_9ff0),
    ("~positiveackwords", 0x9e97_40fc_e9a1_ec09),
    ("~yes", 0xf671_0328_5701_2df1),
    ("~yes", 0xfb3f_65fe_6b32_f995),
    ("~you", 0x64c5_6465_ffa0_a24c),
    ("~your", 0xfdd5_0e55_a9fc_550a),
];

/// Whether these are the synonyms that a new bot has for a word.
pub(crate) fn is_synonym_list<'w>(word: &str, synonyms: impl Iterator<Item = &'w str>) -> bool {
    let all = digest(synonyms);
    SYNONYMS.iter().any(|(known, digest)| *known == word && *digest == all)
}

/// The small talk of a new bot: digests ([`digest`]) of what users say, and of what is answered, at each place.
const SMALL_TALK: &[u64] = &[
    0x09a5_837a_fa67_d5c3,
    0x15cb_b97a_98f5_85ac,
    0x2e3a_32df_8447_8f17,
    0x3063_c611_ecbc_71ad,
    0x3b07_5a77_0a0a_58a9,
    0x41f9_61bc_b169_d89d,
    0x582b_ebfc_179f_0284,
    0x5d36_8592_9fca_58dc,
    0x8cff_d9bd_1c70_0744,
    0x931a_890a_e8ff_6072,
    0x9931_c525_42be_b96a,
    0xa65d_7e1b_1066_43fa,
    0xb408_f750_b4a6_72a5,
    0xc680_ade2_cec5_bcf2,
    0xc767_dcf0_6910_4888,
    0xc77f_e14b_11fb_2a68,
    0xcccc_d313_5e75_0117,
    0xddc8_03a3_857f_c1b7,
    0xe575_d693_eba2_94ec,
    0xf63a_3a58_85b0_f1ba,
];

/// Whether these are the texts of one place of the small talk that a new bot has.
pub(crate) fn is_small_talk<'w>(texts: impl Iterator<Item = &'w str>) -> bool {
    SMALL_TALK.contains(&digest(texts))
}

/// A digest of words (FNV-1a), in whatever order they are.
fn digest<'w>(words: impl Iterator<Item = &'w str>) -> u64 {
    let of = |word: &str| {
        word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    };
    words.fold(0, |all, word| all.wrapping_add(of(word)))
}
