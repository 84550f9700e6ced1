import { FOREIGN_INSTRUCTIONS } from "./foreign-instructions.js";
import { readingsOf } from "./obfuscation.js";

/**
 * Tells words that steer the assistant, the product or its memory from words about the guest. A guest's wish ("always an aisle
 * seat", "answer briefly, please") passes; an order to recommend, to ignore, to book unasked, to keep something for others does not.
 * Patterns see text in lower case with its disguises taken off.
 */

const RULES =
  "(?:instructions?|rules?|prompts?|guidelines?|polic(?:y|ies)|constraints?|restrictions?|safety|safeguards?|filters?|guards?|guardrails?|checks?|gates?|confirmations?|verifications?|limits?|limitations?|messages?|context|training|programming|directives?|orders|memor(?:y|ies)|allerg(?:y|ies)|everything (?:above|before|you))";
const OVERRIDE =
  "(?:ignor\\w*|disregard\\w*|override|overrule|overwrite|bypass\\w*|circumvent\\w*|discard|neglect|suspend|disable|deactivate|turn off|switch off|void|violate|break|pay no attention to|do not follow|don'?t follow|stop following|do not obey|don'?t obey|drop)";
const PROMOTE = "(?:recommend|suggest|promote|advertise|endorse|push|praise|plug|upsell|feature|prioriti[sz]e|rank|favou?r|steer|nudge)";
const OUGHT =
  "(?:must|shall|should|have to|has to|need to|needs to|are to|is to|ought to|will(?: now| always| only)?|are (?:required|obliged|instructed|programmed|supposed|told|now|allowed|authori[sz]ed)|is (?:required|obliged|instructed|programmed|supposed|allowed|authori[sz]ed))";
const YOU =
  "(?:you|the assistant|the concierge|the bot|the ai|the agent|the model|the system|the chatbot|maitred|every assistant|all assistants|assistants?|agents?)";

const REFUSED: readonly RegExp[] = [
  // overriding what the assistant was told
  new RegExp(`\\b${OVERRIDE}\\b.{0,60}\\b${RULES}\\b`, "u"),
  /\b(?:forget|skip)\b.{0,30}\b(?:instructions?|rules?|prompts?|guidelines?|polic(?:y|ies)|restrictions?|confirmations?|verification|checks?|everything above|all previous|you were told)\b/u,
  /\b(?:ignore|disregard|forget) (?:all |any |everything |the )*(?:previous|above|prior|earlier|preceding)\b/u,
  /\b(?:system prompt|system message|system override|system note|hidden prompt|initial prompt|developer mode|admin mode|god mode|debug mode|maintenance mode|jail ?break|dan mode|do anything now|sudo|root access|prompt injection)\b/u,
  /\b(?:new|updated|revised|additional|real|true|actual|secret|hidden) (?:instructions?|directives?|polic(?:y|ies)|orders|rules?|goals?|objectives?)\b/u,
  /\byou are (?:now|no longer|henceforth|actually)\b|\bfrom now on,? (?:you|your)\b|\b(?:act|behave|respond|answer|reply) as (?:if|though|an?|the|my)\b|\bpretend (?:to be|you|that|i)\b|\brole-?play\b|\byour (?:new |only |real |true |main )?(?:role|task|job|purpose|goal|mission|objective|persona|instructions?|duty) (?:is|are|now)\b/u,
  // what the assistant must say or push
  new RegExp(
    `\\b${YOU} (?:also |now |always |really |then |just )?${OUGHT} (?!know\\b|be aware\\b|understand\\b|have (?:seen|noticed|it)\\b|remember\\b)`,
    "u",
  ),
  new RegExp(`\\b${YOU} (?:must|should|shall|have to|need to) (?:know|remember|understand|be aware)\\b.{0,30}\\b(?:to|you|your)\\b`, "u"),
  new RegExp(
    `\\b(?:can|may|could) ${YOU}? ?(?:charge|bill|debit|skip|bypass)\\b|\\byou (?:can|may) (?:always |now |just |simply )?(?:charge|bill|debit|skip|bypass|ignore|book|buy|pay|order|approve|access|share|spend|use|act|assume)\\b`,
    "u",
  ),
  new RegExp(
    `(?:^|[.!?:;,]\\s*|\\b(?:always|only|never|please|first|and|then|must|to|henceforth|now on,?|exclusively|strongly|actively|remember that|that you|whenever|also|so) )${PROMOTE}\\b`,
    "u",
  ),
  /(?<!(?:^|[^a-z])(?:i|we)(?:'d|'ll| would| will| do| can| could| have| am)? )\b(?:always|only|never|first|henceforth|from now on,?|whenever|every time|in (?:every|each|all)|at the end of|from here on,?)\b.{0,50}\b(?:mention|propose|offer|pick|choose|insist|claim|pretend|include|append|insert|add a|add the|link|quote|say (?!it|so)|tell (?:the |every|all|any|them|users|guests|people)|answer (?:that|with the|every question with|["'“])|reply (?:that|with the|["'“])|respond (?:that|with the|["'“])|begin with|start with the|end with|finish with|sign off|redirect|refer|direct|send (?:the |every|all|any|them|users|guests|people))\b/u,
  /(?:^|[.!?:;]\s*|\b(?:and|then|please|so|also|now) )(?:say|mention|tell|claim|insist|append|insert|include|begin|end|redirect|output|print|respond with|reply with|answer with)\b.{0,80}\b(?:always|every|all|users?|guests?|customers?|answers?|repl(?:y|ies)|responses?|prompt|link)\b/u,
  /\b(?:when(?:ever)?|if|once|as soon as|each time|every time|next time)\b.{0,60}\b(?:asks?|asked|mentions?|mentioned|says?|said|talks?|requests?|wants?|types?)\b.{0,60}\b(?:say|answer|reply|respond|recommend|suggest|tell|book|choose|show|give|offer|mention|propose|pick|run|call|send)\b/u,
  /\b(?:(?:everyone|everybody)(?! (?:in (?:my|our|the) (?:family|house|group)|of us|at (?:home|our)))|anyone|all (?:users|guests|customers|people)|other (?:users|guests|customers|people)|every (?:user|guest|customer|conversation|session|reply|answer))\b/u,
  /\b(?:the|this|our|your|current) (?:user|guest|customer|client|account holder|human)(?:'s)?\b.{0,40}\b(?:prefers?|wants?|likes?|loves?|needs?|has|is|authori[sz]ed|agreed|consents?|approved|preferences?|accepts?|always|confirmed|asked)\b/u,
  /\b(?:user|guest|customer) (?:preferences?|profile|context|memory|record|prefers|wants|likes|authori[sz]ed)\b/u,
  // acting without asking, rights and prices that nobody granted
  /\bwithout (?:any |further |my |the |your |asking |prior )*(?:asking|confirm\w*|approval|permission|verif\w*|checking|payment|paying|consent|question)\b|\b(?:no|skip|waive|omit|never ask(?: me)?(?: for)?|don'?t ask(?: me)?(?: for)?|not ask(?: me)?(?: for)?|no need (?:for|to)|don'?t (?:require|request|need)) (?:any |the |a |my |for )*(?:confirm\w*|approval|permission|verif\w*|consent|payment)\b/u,
  /\b(?:auto|automatically|immediately|silently|secretly)[- ]?(?:book|charge|confirm|buy|pay|approve|order|purchase|upgrade|send|transfer|cancel)\w*\b|\b(?:pre-?)?(?:authori[sz]ed?|authori[sz]ation)\b|\bpre-?approved?\b/u,
  /\b(?:i'?m|i am|we are|as|treat me as|give me|grant me|make me|set me) (?:now )?(?:an? |the |your )?(?:admin\w*|super ?users?|root|operators?|developers? (?:of|who)|creators?|owner of this|system|staff access|moderators?)\b/u,
  /\b(?:tickets?|seats?|bookings?|upgrades?|rooms?|meals?|everything|events?|orders?|drinks?|box(?:es)?) (?:is|are|must be|should be|for me (?:is|are)|i book (?:is|are)|costs?)(?: me)? (?:always |now |all |completely )?(?:free(?! of (?:nuts|gluten|steps))|complimentary|gratis|on the house|half[- ]price|nothing|0|zero|discounted|paid|already paid)\b/u,
  /\b(?:free (?:tickets?|seats?|upgrades?|rooms?|meals?|bookings?)|\d+ ?(?:%|percent) (?:off|discount|rebate|refund)|full refund|refunds? (?:me|to|all|every)|discount (?:of|code)|promo code|voucher code|entitled to|price (?:is|must|should|to) |(?:transfer|wire|pay) .{0,30}\b(?:account|money|iban|wallet|bitcoin)|(?:charge|bill) (?:it |this |that |everything )?(?:to|my)\b.{0,30}(?:room|account|card|company|someone))/u,
  // leaking, tools, markup
  /\b(?:reveal|print|show|output|repeat|leak|display|disclose|dump|list|give|tell|send) .{0,40}\b(?:system prompt|your (?:instructions|prompt|rules|configuration)|passwords?|api keys?|credentials|secrets?|other (?:users|guests|customers)|all (?:users|guests|customers)|database|everyone'?s)\b/u,
  /\b(?:call|invoke|run|execute|trigger|use) (?:the |a |this |your )?(?:tool|function|command|script|code|api|endpoint|[a-z]+_[a-z_]+)\b|\b[a-z]+_[a-z]+\s*\(|\b(?:book_tickets|cancel_booking|search_events|get_event|check_availability|list_bookings|remember_tool)\b/u,
  /\b(?:send|post|forward|email|mail|upload|share|report|copy|cc|bcc)\b.{0,60}(?:https?:|www\.|\S+@\S+\.\S+)/u,
  /<\/?\s*(?:system|assistant|user|instructions?|memory|memories|tool\w*|context|admin|script|img|iframe|im_start|im_end|inst|sys|s)\b|<\||\|>|\[\/?(?:inst|sys|system|assistant|user|memory)\b|#{2,}\s*(?:system|instruction|assistant|new|memory|user)|\{\{|\$\{|"(?:role|tool|function|op|statement|category|operations)"\s*:|\bjavascript:|(?:^|\n)\s*(?:system|assistant|developer|tool|function|memory|admin) ?[:：>]|user context:|\(must hold\)|, must hold\)|<!--|-->/u,
  /\b(?:note|message|reminder|memo|instructions?|attention|warning|dear|to|hey|hello)[ ,:-]+(?:to |for )?(?:the |all |any |every )?(?:ai|a\.i\.|llm|language model|chat ?bot|gpt|chatgpt|claude|gemini|model|ai assistants?|assistants?|agents?|bots?|concierge bot)\b/u,
  /\b(?:assistant|ai|llm|gpt|chatgpt|model|bot|concierge)\s*[:,]\s*(?:you|please|always|never|now|do|ignore|remember|set|add|update|store)\b/u,
  /\b(?:drop|alter|truncate|delete from|insert into|update) (?:table|database|memor(?:y|ies) set|\w+ (?:set|values))\b/u,
  /\b(?:store|save|write|add|put|persist|inject|insert|plant|update|set)\b.{0,40}\b(?:in|into|to|for|on)\b.{0,20}\b(?:long[- ]term memory|your memory|the memory|memory store|user profile|the profile|my profile|all (?:users|sessions)|knowledge base|database)\b/u,
  // put together later
  /\b(?:part|chunk|piece|fragment|segment|half|teil|partie|parte|step) ?(?:no\.? ?|number |#)?(?:\d+|one|two|three|i{1,3})\s*(?:of|\/|von|sur|de|di|:|-|\)|\.)|\b(?:first|second|third|last|next|final|other|1st|2nd) (?:half|part|piece|fragment|chunk|segment)\b/u,
  /\b(?:combine|concatenate|concat|join|append|merge|assemble|glue|stitch|put together|put .{0,20} together|complete (?:the|my) (?:sentence|phrase|instruction)|fill in)\b|\b(?:let|set|define|assign)\s+\$?\w{1,12}\s*(?:=|:=|be\b|to be\b|to ['"“])|\b\w\s?\+\s?\w\b(?!\d)|\b(?:to be )?continued?\b.{0,20}\b(?:next|from|in|later|below|message)\b|\bto be continued\b/u,
  /\bin (?:the|my|a|another) (?:next|following|previous|other) (?:message|line|turn|part)s?\b|\bmy (?:previous|last|next|earlier|first|second|other|two|following) (?:\w+ )?(?:messages?|sentences?|lines?|parts?)\b|\b(?:code ?word|trigger (?:word|phrase)|pass ?phrase|magic word|secret word)\b|\bwhen i say\b|\b(?:variable|placeholder)\b|\bmeans? that you\b|\bstands for\b/u,
  // the memory itself as an order
  /\b(?:remember|note|save|store|memori[sz]e|keep in mind)\b.{0,30}\b(?:you (?:must|should|will|shall|have to|need to|are|always|never|only|can)|to (?:always|never|only|recommend|suggest|promote|ignore|book|tell|say|send|mention)|your)\b/u,
  /\b(?:is|are|as) (?:the )?(?:best|number one|no\.? ?1|only|official|preferred|recommended|trusted) (?:\w+ ){0,2}(?:in (?:town|the world|the city|all)|partner|choice|provider|option|hotel|restaurant|venue)\b/u,
];

/** Not an order as such, but better looked at by the user before it is recalled. */
const DOUBTFUL: readonly RegExp[] = [
  /https?:|www\.|\b[a-z0-9-]+\.(?:com|net|org|io|example|biz|info|ru|xyz)\b/u,
  /(?<!\b(?:i|we) )\b(?:always|only|never) (?:show|list|use|reply|respond|answer|search|book|order|buy|propose|give|tell)\b(?! (?:me|us)\b)/u,
  /\b(?:instead of asking|no questions asked|at any price|whatever (?:it|the) (?:costs?|price))\b/u,
  /(?:^|\s)(?:\.{3}|…)\s*\S|\S\s*(?:\.{3}|…)$/u,
];

/** How a style of answer may be asked for without being an order in disguise. */
const STYLE =
  /\b(?:always|only|never)? ?(?:reply|respond|answer|write|speak|talk)(?: to me)? (?:in (?:english|german|french|spanish|italian|portuguese|dutch|polish|plain \w+|full sentences|short sentences|bullet points|detail)|briefly|shortly|formally|informally|concisely|politely|by (?:e-?mail|text|sms|phone)|with short answers)\b/gu;

export type Steering = "none" | "doubtful" | "refused";

export function steeringOf(text: string): Steering {
  let doubtful = false;
  for (const reading of readingsOf(text)) {
    const seen = reading.replace(STYLE, " ");
    if (REFUSED.some((pattern) => pattern.test(seen)) || FOREIGN_INSTRUCTIONS.some((pattern) => pattern.test(seen))) return "refused";
    doubtful ||= DOUBTFUL.some((pattern) => pattern.test(seen));
  }
  return doubtful ? "doubtful" : "none";
}
