/**
 * Tells questions that look back at what was said or done ("the place we booked last spring") from all others, by their words alone, so
 * that history is searched within a turn only where it can help. English in detail; the plainest forms of German, French, Spanish,
 * Italian, Portuguese, Dutch, Chinese and Japanese. A miss is mended by the agent, which has history as a tool.
 */
export function looksBack(text: string): boolean {
  const plain = text.normalize("NFKC").replaceAll("’", "'");
  return LOOKS_BACK.some((form) => form.test(plain)) && !LOOKS_AHEAD.some((form) => form.test(plain));
}

const DONE =
  "said|say|told|tell|mentioned?|asked?|talked?|spoken?|discussed?|chat(?:ted)?|wrote|written|agreed?|decided?|promised?|booked?|reserved?|ordered?|bought|picked|chose|chosen|saw|seen|see|went|gone|go|been|visited|liked?|loved?|enjoyed|hated|ate|eaten|eat|had|have|tried|watched|heard|stayed|sat|sit|paid|pay|cancell?ed|planned|wanted|recommended?|suggested?|proposed?|found|showed|shown|sent|gave|given|offered?";
const WHO = "(?:i|we|you|my \\p{L}+)";

const LOOKS_BACK: readonly RegExp[] = [
  // "What did I tell you", "did we ever see", "where was it that you sent us"
  new RegExp(`\\bdid(?:n't)? ${WHO}\\b(?! (?:get that right|hear))`, "iu"),
  // "Have I told you", "had we already been", "what have I said"
  new RegExp(`\\b(?:have|had)(?:n't)? (?:i|we)\\b (?:(?:ever|already|not|also|both|once|really) )*(?:${DONE})\\b`, "iu"),
  /\b(?:have|had)(?:n't)? you\b (?:(?:ever|already|not|once) )*(?:said|told|mentioned|recommended|suggested|proposed|offered|shown|sent|found|booked)\b/iu,
  // "The place we booked", "that wine you recommended", "as I said"
  new RegExp(
    `\\b(?:the|that|those|this|what|where|which|who|whom|when|as|like|everything|anything|things?|ones?)\\b[^.!?]{0,40}?\\b${WHO}(?:'ve|'d)?(?: (?:have|had))?(?: (?:already|once|last|first|both|just))? (?:said|told|mentioned|asked for|talked|spoke|discussed|agreed|decided|promised|booked|reserved|ordered|bought|picked|chose|saw|went|visited|liked|loved|enjoyed|hated|ate|had for|had at|had last|tried|watched|heard|stayed|sat|paid|cancell?ed|recommended|suggested|proposed|found|showed|sent|gave|used)\\b`,
    "iu",
  ),
  // "Do you remember", "remind me what", "can you recall"
  /\b(?:do|can|could|would|don't|won't) you (?:still |even |happen to )?(?:remember|recall)\b(?! to\b)/iu,
  /\b(?:remind|refresh) (?:me|us|my memory)\b[^.!?]{0,12}\b(?:what|when|which|where|who|whom|why|how|whose|of (?:the|that|what|my|our)|about (?:the|that|what|my|our))\b/iu,
  // "Last time", "our last visit", "the previous booking", "from last spring"
  /\b(?:the |our |my )?last time\b|\b(?:our|my|the) (?:last|previous|earlier|former|first|most recent) (?:chat|conversation|talk|visit|trip|stay|booking|reservation|order|dinner|lunch|meal|evening|date|concert|show|event|message|time|anniversary)\b/iu,
  /\b(?:was|were|went|had|booked|saw|ate|stayed|sat|liked|said|told|talked|from|like|back|as)\b[^.!?]{0,60}\b(?:last (?:night|week|weekend|month|year|spring|summer|autumn|fall|winter|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|christmas)|back then|yesterday|the other (?:day|night|week)|(?:days?|weeks?|months?|years?|while) ago)\b/iu,
  /\b(?:previously|back in|earlier (?:today|on|you|we|i)|in the past|up to now|so far|until now)\b/iu,
  // "The same table as before", "our usual", "that jazz place again"
  /\b(?:same|that|the|those)\b[^.!?]{0,30}\b(?:as|like) (?:before|always|usual)\b|\b(?:my|our|the) usual\b/iu,
  /\bwhat (?:was|were|'s) (?:(?:that|the|our|my)\b[^.!?]{0,40}\b(?:again|called)|(?:my|our) (?:last|reason|reasons|plan|idea|choice|decision|answer|favou?rite))\b|\bwho was (?:it|that|the)\b|\bwhen was (?:it|that|the last|our|my)\b|\bwhere was (?:it|that|our|my)\b|\bwhich (?:one )?was (?:it|that)\b/iu,
  // "What do you know about me", "what's on record"
  /\bwhat (?:do|did) you (?:know|remember|have on record|have noted) (?:about|of|for) (?:me|us|my|our)\b/iu,
  // Other languages
  /\b(?:was|wann|wo|wer|welche[nrs]?|wie) (?:hab(?:e|en)?|hatten?|war(?:en)?|hast) (?:ich|wir|du|sie)\b|\b(?:letztes mal|beim letzten mal|erinnerst du dich|erinnern sie sich|weißt du noch|neulich|damals)\b/iu,
  /\b(?:la dernière fois|tu te souviens|vous souvenez-vous|vous vous souvenez|vous rappelez|rappelle-moi (?:ce|quand|où|qui|comment)|(?:qu'est-ce que|que|où|quand) (?:j'ai|j'avais|nous avons|on a|t'ai-je|vous ai-je))\b/iu,
  /(?<!\p{L})(?:la última vez|te acuerdas|recuerdas|se acuerda|qué (?:te |le )?(?:dije|dijimos|conté)|(?:dónde|cuándo) (?:fuimos|estuvimos|reservamos|cenamos))(?!\p{L})/iu,
  /(?<!\p{L})(?:l'ultima volta|ti ricordi|si ricorda|cosa (?:ti |le )?(?:ho|abbiamo) detto|(?:dove|quando) (?:siamo|abbiamo)|da última vez|lembra(?:s|-se)?|o que (?:te |lhe )?(?:disse|falei)|de vorige keer|de laatste keer|weet je nog|herinner je)(?!\p{L})/iu,
  /上次|上回|之前(?:说|聊|订|提)|(?:还|你)?记得|我(?:说过|提过|告诉过)|前回|この前|覚えて(?:い|る|ます)|(?:言|話|予約)(?:った|した)(?:っけ|でしょう|か)/u,
];

/** What has the same words and asks for something to come, or to be kept. */
const LOOKS_AHEAD: readonly RegExp[] = [
  /^\W*(?:please )?remember (?:that|this|my|our|i|we)\b(?![^?]*\?)/iu,
  /\bremind (?:me|us) (?:(?:tomorrow|tonight|later|next|on|in|at|an?) |to\b)/iu,
  /\bdid (?:you|i) (?:get that right|mean|spell)\b/iu,
];
