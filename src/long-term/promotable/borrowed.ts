import { FOREIGN_INTRODUCTIONS } from "./foreign-introductions.js";

/**
 * Sentences that hand over words which are not the guest's: they tell where a text comes from ("This is what the leaflet said."),
 * who speaks ("he goes like …"), that something is to be written, translated or played. No verb of saying and no colon need be
 * there, so it is the form that is read: what is presented, what stands without a verb, what is to be worked on.
 */

const B = "(?<!\\p{L})";
const E = "(?!\\p{L})";

function pattern(source: string): RegExp {
  return new RegExp(source, "iu");
}

/** Texts that others wrote, as a rule. */
const TEXT =
  "(?:texts?|messages?|e-?mails?|mails?|letters?|leaflets?|flyers?|brochures?|booklets?|guide ?books?|manuals?|labels?|packag(?:e|ing)|tapes?|cassettes?|letterheads?|tickets? stub|catalogues?|web ?sites?|web ?pages?|pages?|sites?|home ?pages?|blogs?|posts?|tweets?|threads?|comments?|reviews?|ratings?|testimonials?|feedback|adverts?|advertisements?|ads?|commercials?|banners?|posters?|signs?|notice ?boards?|notices?|slogans?|mottos?|sayings?|screenshots?|excerpts?|extracts?|passages?|paragraphs?|quotes?|quotations?|faqs?|terms and conditions|small print|press releases?|articles?|newspapers?|magazines?|headlines?|transcripts?|minutes|subtitles?|interviews?|voice ?mails?|voice messages?|recordings?|whatsapps?|sms|dms?|chats?|group chats?|chat logs?|notes? from|lyrics|songs?|chorus|poems?|verses?|haikus?|limericks?|stor(?:y|ies)|tales?|novels?|novellas?|essays?|speech(?:es)?|monologues?|dialogues?|scripts?|scenes?|sketch(?:es)?|chapters?|diary|diaries|bios?|biograph(?:y|ies)|captions?|character sheets?|characters?|exercises?|vocabulary|homework|worksheets?|flash ?cards?|templates?|check ?box(?:es)?|place ?holders?|samples?|surveys?|questionnaires?|outputs?|logs?|tripadvisor|reddit|facebook|instagram|twitter|yelp|wikipedia|youtube|duolingo)";
/** What others utter. */
const UTTERANCE =
  "(?:repl(?:y|ies)|answers?|response|words|statement|opinion|view|line|lines|motto|slogan|saying|advice|comeback|wording|toast|quote|order|wish list)";
/** What is written to order, or brought as one's own piece of writing. */
const WORK =
  "(?:poems?|verses?|haikus?|limericks?|sonnets?|rap|songs?|lyrics|jingles?|stor(?:y|ies)|tales?|novels?|novellas?|essays?|speech(?:es)?|toasts?|monologues?|dialogues?|screenplays?|scripts?|plays?|scenes?|sketch(?:es)?|chapters?|diary(?: entr(?:y|ies))?|bios?|biograph(?:y|ies)|cvs?|resumes?|cover letters?|letters?|thank-?you (?:cards?|notes?)|greeting cards?|e-?mails?|mails?|posts?|tweets?|blogs?|captions?|reviews?|adverts?|ads?|slogans?|jokes?|parod(?:y|ies)|paragraphs?|sentences?|essays?|articles?|profiles?|about-me|texts?|obituar(?:y|ies)|vows|role|wording|thesis|homework|exercises?|class|lesson|character|d&d|campaign|template|form|questionnaire|survey)";
const LANGUAGE_NAME =
  "(?:english|german|french|spanish|italian|portuguese|dutch|polish|russian|japanese|chinese|korean|arabic|turkish|latin|greek|swedish|danish|norwegian|finnish|czech|hungarian)";
const OTHERS =
  "(?:he|she|they|someone|somebody|everyone|everybody|people|my (?:[\\p{L}-]+ ){0,2}[\\p{L}-]+|our (?:[\\p{L}-]+ ){0,2}[\\p{L}-]+|the (?:[\\p{L}-]+ ){0,2}[\\p{L}-]+|\\p{L}+)";
const THEIRS =
  "(?:his|her|their|its|(?:my|our|the|an?|another|some|this|that) (?:[\\p{L}&-]+ ){0,2}[\\p{L}-]+['’]s?|(?!(?:tonight|today|tomorrow|yesterday|\\p{L}+day|this|he|she|it|who|that|here|there|what|let|how|where|when)['’])\\p{L}+['’]s)";

/** Anywhere in a sentence: whoever says so is quoting. */
const QUOTING: readonly RegExp[] = [
  pattern(
    `${B}${OTHERS} (?:goes|go|went|(?:was|were|is|are|'s|’s)(?: just| always)? (?:like|all))(?: like)?(?:${E}(?=,? (?:i|we|my)${E})|\\s*[,:])`,
  ),
  pattern(
    `${B}(?:in the words of|to quote|quoting|(?:exact|very|own|actual|original|literal) words|verbatim|word for word|quote(?= ?[:,.]|$)|unquote|overheard|not me,? but|not (?:mine|my (?:own )?(?:words|opinion|idea|taste|text))|(?:is|are|was|were)(?:n['’]t| not) (?:mine|my (?:own )?words)|in (?:his|her|their|these|those|the following) (?:own |exact )?(?:words|voice)|(?:keeps?|kept) (?:repeating|saying|singing|shouting|chanting)|reading (?:this|it|that|aloud|out|you)?(?: \\p{L}+)? ?(?:off|from|aloud)|(?:got|received) (?:this|the following) (?:in|from|by|via|today|yesterday|on)|two truths and a lie|on behalf of)${E}`,
  ),
  pattern(
    `${B}(?:copying|copied|copy[- ](?:and|&|n)[- ]?paste\\p{L}*|copy-?paste\\p{L}*|(?:i|i['’]ll|just|only|which i|will|to|let me) (?:just )?(?:copy|paste|quote|forward)|pasting|pasted|re-?typed|typed up|forwarding|forwarded|fwd|quoted|transcribed|cited|lifted) ?(?:here|below|above|next|in|from|out|you|off|this|that|it|what|the|of|on|as is|now|:|,|$)`,
  ),
  pattern(
    `${B}(?:(?:it|this|that|there)(?:['’]s| is| was|) (?:\\p{L}+ ){0,2}(?:printed|written|engraved|scribbled|spelled out)|(?:printed|written|scribbled) (?:on|in|at|by|there)|found (?:this|that|it|the following) (?:on|in|at|by|under|online)(?! your)|(?:this|that|it|the (?:above|following|next)) (?:came|comes|is|was) from)${E}`,
  ),
  pattern(`${B}according to (?!me${E}|my (?:doctor|gp|allergist|dietician|physician)${E})`),
  pattern(
    `^(?:(?:and|so|but)[\\s,]+)*${THEIRS} (?:[\\p{L}-]+ ){0,2}(?:${UTTERANCE}|${TEXT}) (?:is|was|were|has always been)[,:]? (?=(?:i|we|my)${E})`,
  ),
  pattern(
    `${B}(?:said|wrote|texted|sent|posted|put|published|answered|replied|dictated|commented|mailed|e-?mailed|came up with|left)(?: (?:me|us|it|out|up|down|back|there|online|yesterday|today|on \\p{L}+|(?:in|on) the (?:[\\p{L}-]+ ){0,2}[\\p{L}-]+))?$(?<=${B}(?:what|this|the|how|as)${E}.*)(?<!${B}(?:what|as|how|thing|things|mail|note|message) (?:i|we)(?:['’]ve| have)?${E}.*)`,
  ),
  // "As my coach always puts it", "my aunt left me this": somebody said or sent it, and the sentence ends there
  pattern(
    `^(?!(?:and |so |but |as |like )?(?:i|we)(?:['’]\\p{L}+)?${E}).*${B}(?:puts?|says?|said|tells?|told|sent|sends|left|noted|notes|answers?|answered|wrote|writes|put|gave|signed off|sang|sings|recited|typed|dictated)(?: (?:me|us))?(?: (?:it|this|that|so|thus|like this|these words|this note))$|^(?!(?:and |so |but |as |like )?(?:i|we)(?:['’]\\p{L}+)?${E}).*${B}(?:told (?:me|us)|always on about it)$`,
  ),
  pattern(`^what it (?:says|said|reads)${E}|${B}(?:by heart|subject line|ghost-?writ\\p{L}+)${E}`),
];

/** The whole of a sentence, or what stands before its colon. */
const PRESENTING: readonly RegExp[] = [
  // "Here's her mail", "This is the text message he sent me", "Below is …", "Here comes what my boss dictated"
  pattern(
    `^${"(?:(?:and|so|ok(?:ay)?|look|hi|hey|well|now|then|ready\\?)[\\s,]+)*"}(?:this|that|these|those|here|below|above|next|the following|what follows|see|look at|read|note|remember|recall|check|check out)${E}(?!.{0,40}${B}(?:my (?!(?:[\\p{L}-]+ )*${WORK}${E}|(?:[\\p{L}-]+ ){0,2}[\\p{L}-]+['’]s)|i (?:like|love|want|need|prefer|hate)${E})).{0,60}${B}(?:${TEXT}|${THEIRS} ${UTTERANCE}|lines?|he|she|they|someone)${E}`,
  ),
  // "His exact words", "Her reply was short", "My cousin's motto is", "One review of it", "Another guest's feedback was as follows"
  pattern(`^(?:(?:and|so|but)[\\s,]+)*${THEIRS} (?:[\\p{L}-]+ ){0,2}(?:${TEXT}|${UTTERANCE})${E}(?!.{0,60}${B}(?:i|we|me)${E})`),
  pattern(
    `^(?:one|some|another|a|an|top|first|last|the (?:famous|old|well-known)) (?:[\\p{L}-]+ ){0,2}(?:${TEXT}|quotation|saying|proverb)${E}(?!.{0,60}${B}(?:i|we|me|please)${E})`,
  ),
  // "The lyrics go like this", "… was the following"
  pattern(
    `${B}(?:${TEXT}|${UTTERANCE}|it)${E}.{0,40}${B}(?:go|goes|went|is|was|are|were|run|runs|read|reads|says?)${E} (?:\\p{L}+ )?(?:like this|as follows|this|these|the following)$(?<!^(?:my|our) (?:answer|wish|order|words?|line)${E}.*)`,
  ),
  pattern(
    `${B}(?:the|this|that|${THEIRS}) (?:[\\p{L}-]+ )?(?:song|chorus|poem|lyric|line|saying|sign|poster|menu|page|text|book)s? (?:goes|says|reads|runs|said|read)$`,
  ),
  pattern(`${B}(?:it|this|that|which) (?:starts|begins|goes|opens|ends|runs|reads) (?:so|thus|like so|as follows)$`),
  pattern(
    `${B}(?:sentence|question|exercise|verse|section|page|chapter|paragraph|stanza|slide|item)(?: number| no)? (?:\\d+|one|two|three|four|five|six|seven|eight|nine|ten)$`,
  ),
  pattern(
    `^what ${OTHERS} (?:always |usually |just )?(?:says?|tells?|told|puts?|writes?|thinks?|sent|posts?)(?: \\p{L}+)?$(?<!^what (?:i|we)${E}.*)`,
  ),
];

/** What comes in another message is a text. */
const ANNOUNCING: readonly RegExp[] = [
  pattern(
    `${B}(?:(?:next|following|coming) (?:message|text|line|sentence|paragraph|part)s?|here (?:comes?|it comes|follows|goes)|(?:i['’]ll|i will|i['’]m going to|i am going to|let me|going to) (?:now |just |then )?(?:paste|copy|forward|quote|send (?:you )?(?:the|a|an|my|some|what)|share (?:the|a|an)|type (?:in|out|up)|dictate|read (?:you|out))|what i (?:send|paste|write|type|copy)(?: you)? (?:next|now|below))${E}`,
  ),
];

/** Something to be written, bettered, translated or played. */
const COMMISSION: readonly RegExp[] = [
  pattern(
    `^(?:.{0,40}[,.?!] )?(?:(?:please|kindly|now|hi|hey|hello|ok|and|just)[\\s,]+)*(?:(?:can|could|would|will) you (?:please |kindly |also |just )?|(?:i['’]d like|i want|i need) (?:you )?to |help (?:me )?(?:to |with |me with |writing )?|let['’]?s )?(?:write|draft|compose|pen|invent|make(?: up)?|word|phrase|come up with|create|generate|produce|prepare|craft|continue|finish|complete|extend|expand|improve|polish|tidy|rewrite|re-?word|rephrase|paraphrase|edit|proof-?read|correct|fix|shorten|rate|grade|summari[sz]e|translate|interpret|answer|turn|give|imagine|fill in|fill out|sing|ghost-?write|act out|perform|recite|read|check|format|put|begin|start)${E}(?!.{0,20}(?:a|an|the) (?:e-?mail|mail|text|letter) (?:when|if|once|before|after|as soon|with (?:the|my)))(?=.{0,70}${B}(?:${WORK}|grammar|spelling|punctuation|rhythm|rhyme|first person)${E}|.{0,12}${B}(?:this|that|it|these|the following)${E}.{0,30}${B}(?:into|more|less|better|sound|so that it|out of|in ${LANGUAGE_NAME}|a (?:[\\p{L}]+ )?(?:rhythm|tone|touch|twist))${E}|.{0,70}${B}(?:out of|into|from) (?:this|that|it)${E})`,
  ),
  pattern(
    `^(?:an?|some|the|two|three) (?:[\\p{L}-]+ ){0,3}${WORK}${E}.{0,60}${B}(?:please|starting|beginning|something like|that (?:starts|begins|says))${E}`,
  ),
  pattern(
    `^(?:for|from|in|to) (?:an?|my|our|the|his|her|their|this) (?:[\\p{L}'’-]+ ){0,3}(?!(?:class|lesson|profile)${E})${WORK}${E}(?<!the (?:play|review|story|song|show))(?!.{0,60}${B}(?:(?:booking|reservation|ticket|evening)s?|on \\p{L}+day|(?:i|we) (?!follow|read|found|saw|know|wr[io]t|work|keep|got|am|run)\\p{L}+)${E})`,
  ),
  pattern(
    `${B}(?:first|opening|last|closing|next|final) (?:line|lines|sentence|sentences|words|paragraph|page|chapter|verse) (?:is|are|goes|(?:of|for|in) (?:an?|my|our|the|his|her|their) (?:[\\p{L}-]+ ){0,2}${WORK})${E}|${B}(?:opening|beginning|start|end(?:ing)?|draft|outline) of (?:an?|my|our|the|his|her|their) (?:[\\p{L}-]+ ){0,2}${WORK}${E}|${B}(?:on page (?:one|two|\\d+)|chapter (?:one|two|\\d+))${E}`,
  ),
  pattern(
    `^(?:my|our|his|her|their) (?:[\\p{L}'’&-]+ ){0,3}(?:essay|novel|poem|haiku|character|character sheet|avatar|alter ego|protagonist|heroine|hero|narrator|homework|vocabulary|exercise|duolingo (?:sentence|lesson))(?: (?:is|was|says?|speaks?|of|for|in|sheet|begins?|starts?|opens?|goes)${E}|$)`,
  ),
  // translation and language lessons
  pattern(
    `${B}(?:how (?:do|would|can) (?:you|i|we|one) (?:say|write|put|spell|pronounce)|what(?:['’]s| is) (?:the )?${LANGUAGE_NAME}(?: word)? for|^(?:(?:and|now|or)[\\s,]+)?(?:in|into|to) ${LANGUAGE_NAME},? please|in ${LANGUAGE_NAME},? (?:that would be|it would be|this is|it is|it's)|(?:put|get|turn|render|bring) (?:this|that|it)?.{0,20}(?:in|into) ${LANGUAGE_NAME}|translations? of|(?:sentence|text|phrase|line|word)s? to (?:translate|learn|correct|repeat)|translate (?:this|that|it|what|the|for)|(?:correct|good|proper|right|natural) ${LANGUAGE_NAME}|vocabulary for|exercise \\d+|(?:wrong|right|ok(?:ay)?|correct|off|missing|mistakes?|errors?) (?:with|in|about) (?:this|that|my|the|these) (?:[\\p{L}-]+ )?(?:sentences?|lines?|texts?|words|paragraph|phrase|letter|essay|poem|grammar|spelling)|(?:a )?native (?:speaker )?(?:would )?(?:say|put|write)(?: it)?)${E}`,
  ),
  // parts to be played, tests and examples
  pattern(
    `${B}(?:let['’]?s play|let['’]?s do a (?:role|scene)|role-?play(?! games?)|play along|in[- ]character|make-believe|in this (?:scenario|scene|game|story|role|exercise)|in the (?:play|film|movie|scene|sketch|musical|game)s? (?:i|we) (?:have|say|play|am|speak)|i(?:['’]m| am) (?:playing|acting|performing|speaking as|impersonating) (?:an?|the|as)? ?(?:[\\p{L}-]+ ){1,4}(?:tonight|now|today|here|this time|for (?:this|the))|playing the (?:role|part)|(?:as|like) (?:\\p{L}+ ){1,4}i['’]?(?:d| would) (?:say|answer|tell)|i (?:would|['’]d) say as|(?:only|just|merely) a (?:test|demo|drill|trial|simulation)|test (?:message|input|data|sentence|case|prompt)|(?:example|sample|dummy|mock|demo) (?:input|answer|sentence|text|data|message|prompt|profile|reply|guest|for)|my (?:character|avatar|alter ego|persona)|(?:answer|talk|speak|listen) to \\p{Lu}[\\p{L}-]+(?: \\p{Lu}[\\p{L}-]+)? now|d&d)${E}`,
  ),
  pattern(
    `^translate(?: please)?$|^(?:now )?you(?:['’]re| are| be|['’]ll be| play) (?:the|an?) (?:[\\p{L}-]+ ?){1,2}$|${B}(?:my|your) (?:role|part|line|lines) (?:for|in|is|are)${E}|^(?:sing|say|repeat|recite|read) (?:it|this|that)(?: \\p{L}+)? (?:with|after) me$`,
  ),
  pattern(`^(?:template|form|sample|example|placeholder|check ?box|dummy|specimen|lorem)${E}`),
];

const WORKS_ON_IT = pattern(`${B}(?:this|that|it|above|these|my grammar)${E}`);

/** Somebody's line in a conversation, or a machine's. */
const LABEL =
  /^(?:[[{<]|={2,}|-{3,}|\*{3,}|#+\s|(?:[\p{L}_]+_[\p{L}_]+|result|output|memory|user|system|return|data|answer)\s*(?:=|>{1,2}|->|=>|::)|(?:caller|agent|guest|customer|client|speaker|host|hostess|interviewer|interviewee|moderator|narrator|operator|receptionist|waiter|waitress|person|voice|actor|patient|doctor|teacher|student|reporter|q|a|user|bot|system|observation|action|thought|memory|memories|result|output|input|context|records?|data|log|prompt|response|completion|answer key)(?:\s*\d+|\s\p{L})?\s*(?::|-\s|–\s|—\s|>))/iu;
/** Not a tick of the guest's own: a form's or page's text comes with one. */
const VERB =
  /(?<!\p{L})(?:i|i['’]m|i['’]ve|i['’]d|i['’]ll|we|we['’]re|you|is|are|was|were|am|be|been|has|have|had|do|does|did|don['’]t|doesn['’]t|can|can['’]t|could|will|would|shall|should|must|may|might|isn['’]t|aren['’]t|wasn['’]t|it['’]s|that['’]s|there['’]s|what['’]s|let|please|thanks?|sorry|no|not|nothing|same|great|nice|lovely|good|about me|questions? (?:about|on|for)|wrote|said|says?|went|came|saw|got|took|gave|made|loves?|likes?|hates?|prefers?|needs?|wants?|works?|lives?|looks?|seems?|sounds?|helps?|means?|comes?|merci|gracias|grazie|danke)(?!\p{L})/iu;
const IMPERATIVE_START =
  /^(?:please\s+)?(?:send|read|see|check|text|mail|e-?mail|call|book|reserve|show|find|tell|give|put|keep|avoid|add|remove|open|close|cancel|change|get|bring|take|use|ask|forget|delete|remember|note|what|which|where|when|who|how|why|regarding|concerning|re|by|via|with|without|after|before|until|since)(?!\p{L})/iu;
const STARTS_WITH_SOURCE = new RegExp(
  `^(?:(?:and|so|ok|then)[\\s,]+)*(?:(?:taken |straight |direct(?:ly)? |pasted |copied )?(?:from|on|in|under|at|by)\\s+)?(?:(?:the|an?|my|our|his|her|their|this|that|some|one|five stars|top|latest|another|someone|somebody|\\p{L}+['’]s)\\s+)*.{0,60}(?<!\\p{L})${TEXT}(?!\\p{L})`,
  "iu",
);

/** "Grandpa's favourite phrase.", "My toast for Saturday.": what somebody has, or a thing to be spoken, and no verb. */
const HAD_BY_SOMEBODY = new RegExp(
  `^(?:${THEIRS}) (?!.*(?<!\\p{L})(?:birthday|anniversary|wedding|visit|party|name|surname|room|seats?|tickets?|booking|table|diet|allerg(?:y|ies)|wheelchair|number|address|turn|best|favou?rite (?:band|dish|food|place|restaurant|hotel|artist|wine)|\\d+(?:st|nd|rd|th))(?!\\p{L}))\\p{L}|^(?:my |our |an? |the |some )?(?:[\\p{L}-]+ )?(?:toast|speech|rap|dictation|rhymes?|vows|sermon|eulogy|poem|haiku|limerick|lyrics|monologue|essay|quote|proverb|riddle|joke)(?!\\p{L})|^(?:got |was |just )*(?:taken|handed|picked up|torn|cut out|given|read)(?!\\p{L}).*(?<!\\p{L})(?:from|this|on|off|out of)(?!\\p{L})`,
  "iu",
);

/** "From the FAQ.", "Minutes of our meeting.", "A WhatsApp from Ben.": a source, and no verb. */
function namesASourceOnly(head: string): boolean {
  return (
    head.split(/\s+/u).length <= 12 &&
    !VERB.test(head) &&
    !IMPERATIVE_START.test(head) &&
    (STARTS_WITH_SOURCE.test(head) || HAD_BY_SOMEBODY.test(head))
  );
}

function plainOf(text: string): string {
  return text
    .replace(/[’‘]/gu, "'")
    .replace(/[\s.!?:…,;]+$/u, "")
    .replace(/^[\s"'“”]+/u, "")
    .trim();
}

/** Before its colon; and before a full stop that is no sentence's end ("section 4. I …"). */
function headsOf(plain: string): string[] {
  const heads = [plain];
  for (const end of [/[:：∶]/u, /[.!?]\s/u]) {
    const at = plain.search(end);
    if (at > 0) heads.push(plainOf(plain.slice(0, at)));
  }
  return heads;
}

const MAX_CHARS = 400;

/** Whether a sentence hands over words that are not the guest's: in itself, before its colon, or in what follows it. */
export function handsOverWords(sentence: string): boolean {
  const plain = plainOf(sentence.slice(0, MAX_CHARS));
  return headsOf(plain).some(
    (head) =>
      LABEL.test(head) ||
      QUOTING.some((form) => form.test(head)) ||
      COMMISSION.some((form) => form.test(head)) ||
      FOREIGN_INTRODUCTIONS.some((form) => form.test(head)) ||
      PRESENTING.some((form) => form.test(head)) ||
      ANNOUNCING.some((form) => form.test(head)) ||
      namesASourceOnly(head),
  );
}

/** Whether it says that the next message is a text, a part to be played, or to be worked on. */
export function announcesWords(sentence: string): boolean {
  const plain = plainOf(sentence.slice(0, MAX_CHARS));
  return ANNOUNCING.some((form) => form.test(plain));
}

/** "Can you improve this letter?" below the letter. */
export function worksOnWhatStandsBefore(sentence: string): boolean {
  const plain = plainOf(sentence.slice(0, MAX_CHARS));
  return WORKS_ON_IT.test(plain) && COMMISSION.some((form) => form.test(plain));
}
