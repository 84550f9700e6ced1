/**
 * What kind of answer a question wants, and which messages hold one of that kind.
 * Source: answer types, Li and Roth, "Learning question classifiers", COLING 2002; here by the question's first words alone.
 */
export type AnswerKind = "time" | "number" | null;

const WANTS_TIME =
  /^\W*(?:when|since when|until when|how long ago|(?:on |in )?(?:what|which) (?:date|day|month|year|week|season)|wann|seit wann|quand|cuándo|cuando|quando|wanneer)\b|何时|什么时候|いつ|언제/iu;
const WANTS_NUMBER =
  /\b(?:how (?:many|much|old|often|long|far|big|large|tall)|what number|wie ?(?:viele?|oft|lange?|alt)|combien|cuánt[oa]s?|quant[oaie]s?|hoeveel)\b|多少|几[个次]|いくつ|何[人回枚個]|몇/iu;

const LOCALES = ["en", "de", "fr", "es", "it", "pt", "nl"];
const RELATIVE =
  "yesterday|today|tonight|tomorrow|ago|last|next|week|weekend|month|year|morning|evening|recently|gestern|heute|morgen|vorgestern|letzten?|nächsten?|woche|hier|demain|aujourd'hui|dernière?|prochaine?|semaine|ayer|hoy|mañana|pasad[oa]|próxim[oa]|ieri|oggi|domani|ontem|hoje|amanhã|gisteren|vandaag";
const HOLDS_TIME = new RegExp(
  `(?<!\\p{L})(?:${calendarWords().join("|")}|${RELATIVE})(?!\\p{L})|\\p{N}|昨|今日|明日|昨日|先週|来週|上周|下周|어제|내일`,
  "iu",
);
const HOLDS_NUMBER =
  /\p{N}|(?<!\p{L})(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|couple|few|once|twice|eins?|zwei|drei|vier|fünf|deux|trois|quatre|cinq|dos|tres|cuatro|cinco|due|tre|quattro)(?!\p{L})|[一二三四五六七八九十两]/iu;

export function expectedAnswer(question: string): AnswerKind {
  if (WANTS_TIME.test(question)) return "time";
  return WANTS_NUMBER.test(question) ? "number" : null;
}

/** True when the text holds an expression of that kind. */
export function holdsAnswer(text: string, kind: AnswerKind): boolean {
  if (kind === null) return false;
  return kind === "time" ? HOLDS_TIME.test(text) : HOLDS_NUMBER.test(text);
}

/** True when the text ends by asking, in any script; what stands in brackets at its end is passed over. */
export function asks(text: string): boolean {
  return /[?？؟⁇]\s*["'”’»)]*\s*(?:\[[^\]]*\]\s*)?$/u.test(text.slice(-400));
}

/** Names of months and weekdays, long forms, as the platform's locale data have them. */
function calendarWords(): string[] {
  const words = new Set<string>();
  for (const locale of LOCALES) {
    const month = new Intl.DateTimeFormat(locale, { month: "long", timeZone: "UTC" });
    const weekday = new Intl.DateTimeFormat(locale, { weekday: "long", timeZone: "UTC" });
    for (let i = 0; i < 12; i++) words.add(month.format(Date.UTC(2024, i, 15)).toLowerCase());
    for (let i = 1; i <= 7; i++) words.add(weekday.format(Date.UTC(2024, 0, i)).toLowerCase());
  }
  return [...words];
}
