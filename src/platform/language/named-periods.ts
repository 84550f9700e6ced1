/**
 * Weekends, weeks, months and years that are named by where they lie from today: "this weekend", "Ende der Woche", "el mes que
 * viene". A weekend is this one until its Sunday is over, whatever the hour.
 */

export type PeriodLanguage = "en" | "de" | "fr" | "es" | "it";
export type PeriodUnit = "day" | "weekend" | "week" | "month" | "year";

export interface NamedPeriod {
  /** As it was said. */
  readonly text: string;
  readonly index: number;
  readonly unit: PeriodUnit;
  /** How many units after the present one: 0 is this, 1 the next. A day's is counted from today. */
  readonly ahead: number;
}

const UNITS: readonly PeriodUnit[] = ["day", "weekend", "week", "month", "year"];

/** What is named; by unit, then by how far ahead. Further ahead comes first: "das Wochenende" is in "das übernächste Wochenende". */
type Names = Partial<Record<PeriodUnit, readonly (readonly [ahead: number, names: string])[]>>;

const NAMES: Readonly<Record<PeriodLanguage, Names>> = {
  en: {
    weekend: [
      [2, "(?:the )?weekend after next"],
      [1, "(?:the )?(?:next|following) weekend"],
      [0, "(?:(?:at|over|on|during|for|until) )?(?:this(?: coming)?|the(?: coming)?|coming) weekend(?! of)"],
    ],
    week: [
      [2, "the week after next"],
      [1, "(?:the )?(?:end of )?(?:next|following|coming) week"],
      [0, "this week|the (?:end|rest|remainder) of (?:the|this) week"],
    ],
    month: [
      [1, "(?:the end of )?next month"],
      [0, "this month|the (?:end|rest|remainder) of (?:the|this) month"],
    ],
    year: [
      [1, "(?:the end of )?next year"],
      [0, "this year|the (?:end|rest|remainder) of (?:the|this) year"],
    ],
  },
  de: {
    weekend: [
      [2, "(?:am |das )?übernächste[nsm]? wochenende"],
      [1, "(?:am |das )?nächste[nsm]? wochenende"],
      [0, "(?:diese[sm]|(?:am |das )?kommende[nsm]?|am|übers|das) wochenende"],
    ],
    week: [
      [2, "übernächste[rn]? woche"],
      [1, "(?:nächste|kommende)[rn]? woche|ende nächster woche"],
      [0, "diese[r]? woche|(?:ende|rest) (?:der|dieser) woche"],
    ],
    month: [
      [1, "(?:ende )?nächste[nsm]? monats?"],
      [0, "diese[nsm] monats?|(?:ende|rest) des monats|monatsende"],
    ],
    year: [
      [1, "(?:ende )?nächste[nsm]? jahre?s?"],
      [0, "diese[sm] jahre?s?|heuer|(?:ende|rest) des jahres|jahresende"],
    ],
  },
  fr: {
    day: [[2, "après-demain"]],
    weekend: [
      [1, "(?:le |ce )?week-?end (?:prochain|suivant)|(?:le )?prochain week-?end"],
      [0, "(?:ce|le) week-?end"],
    ],
    week: [
      [1, "(?:la )?semaine prochaine|(?:la )?prochaine semaine"],
      [0, "cette semaine|(?:la )?fin de (?:la |cette )?semaine"],
    ],
    month: [
      [1, "(?:le )?mois prochain|(?:le )?prochain mois"],
      [0, "ce mois(?:-ci)?|(?:la )?fin (?:du|de ce) mois"],
    ],
    year: [
      [1, "(?:l['’])?(?:année prochaine|an prochain)"],
      [0, "cette année|(?:la )?fin de (?:l['’]|cette )année"],
    ],
  },
  es: {
    day: [[2, "pasado mañana"]],
    weekend: [
      [1, "(?:el |este )?(?:próximo (?:fin de semana|finde)|(?:fin de semana|finde) (?:que viene|próximo|siguiente))"],
      [0, "(?:este|el) (?:fin de semana|finde)"],
    ],
    week: [
      [1, "(?:la )?(?:próxima semana|semana (?:que viene|próxima|siguiente))"],
      [0, "esta semana|final(?:es)? de (?:la |esta )?semana"],
    ],
    month: [
      [1, "(?:el )?(?:próximo mes|mes (?:que viene|próximo|siguiente))"],
      [0, "este mes|(?:final(?:es)?|fin) de (?:este )?mes"],
    ],
    year: [
      [1, "(?:el )?(?:próximo año|año (?:que viene|próximo|siguiente))"],
      [0, "este año|(?:final(?:es)?|fin) de (?:este )?año"],
    ],
  },
  it: {
    day: [[2, "dopodomani"]],
    weekend: [
      [1, "(?:il |nel )?(?:prossimo (?:fine settimana|week-?end)|(?:fine settimana|week-?end) prossimo)"],
      [0, "(?:questo|il|nel) (?:fine settimana|week-?end)"],
    ],
    week: [
      [1, "(?:la )?(?:prossima settimana|settimana prossima)"],
      [0, "questa settimana"],
    ],
    month: [
      [1, "(?:il )?(?:prossimo mese|mese prossimo)"],
      [0, "questo mese|(?:la )?fine (?:del|di questo) mese"],
    ],
    year: [
      [1, "(?:il |l['’])?(?:prossimo anno|anno prossimo)"],
      [0, "quest['’]anno|(?:la )?fine (?:dell['’]|di quest['’])anno"],
    ],
  },
};

interface Name {
  readonly unit: PeriodUnit;
  readonly ahead: number;
  readonly pattern: RegExp;
}

function namesOf(names: Names): readonly Name[] {
  return UNITS.flatMap((unit) =>
    (names[unit] ?? []).map(([ahead, sources]) => ({
      unit,
      ahead,
      pattern: new RegExp(`(?<!\\p{L})(?:${sources})(?!\\p{L})`, "giu"),
    })),
  );
}

const PATTERNS = {
  en: namesOf(NAMES.en),
  de: namesOf(NAMES.de),
  fr: namesOf(NAMES.fr),
  es: namesOf(NAMES.es),
  it: namesOf(NAMES.it),
} as const;

/** "At the weekend I usually …" is every weekend; "this weekend" never is. */
const HABIT =
  /(?<!\p{L})(?:always|usually|mostly|often|never|only|normally|generally|typically|prefer\p{L}*|rather|best|immer|meist\p{L}*|oft|gern\p{L}*|lieber|nie|nur|liebsten|normalerweise|toujours|souvent|habitude|jamais|préfèr\p{L}*|siempre|suel\p{L}*|solemos|nunca|prefier\p{L}*|sempre|di solito|mai|preferisc\p{L}*)(?!\p{L})/iu;
const ANY_WEEKEND =
  /^(?:(?:at|over|on|during) the|the|am|übers|das|le|el|il|nel) (?:weekend|wochenende|week-?end|fin de semana|finde|fine settimana)$/iu;

/** In the order in which they are named; none lies within another. */
export function periodsIn(text: string, language: PeriodLanguage): NamedPeriod[] {
  const found: NamedPeriod[] = [];
  const habit = HABIT.test(text);
  for (const { unit, ahead, pattern } of PATTERNS[language])
    for (const match of text.matchAll(pattern)) {
      const from = match.index;
      const to = from + match[0].length;
      if (habit && ANY_WEEKEND.test(match[0])) continue;
      if (!found.some((other) => from < other.index + other.text.length && other.index < to))
        found.push({ text: match[0], index: from, unit, ahead });
    }
  return found.sort((a, b) => a.index - b.index);
}
