/** Weekdays, months and parts of the day, as they are written in the languages of messages: they say when, not what. Pure. */

const LANGUAGES = ["en", "de", "fr", "es", "it"] as const;

/** What stands beside them with a capital: German nouns, headings, and the clock. */
const TIME_WORDS = `
  today tonight tomorrow yesterday morning noon afternoon evening night midnight weekend weekday day days week weeks month year am pm
  heute morgen gestern tag tage tags tagen vormittag mittag nachmittag abend abends nacht mitternacht wochenende woche wochen monat jahr uhr
  stunde stunden minuten
  aujourd'hui demain hier matin midi apres-midi soir soiree nuit week-end semaine mois jour
  hoy manana ayer mediodia tarde noche semana mes dia ano
  oggi domani ieri mattina mezzogiorno pomeriggio sera notte settimana mese giorno
`;

const CALENDAR: ReadonlySet<string> = new Set([...LANGUAGES.flatMap(calendarOf), ...TIME_WORDS.trim().split(/\s+/)].map(plain));
const PARTS_OF_DAY = /(?:morgen|vormittag|mittag|nachmittag|abend|nacht)s?$/u;

/** True for "Saturday", "samstags", "Freitagabend", "Nov.": in any of the languages. */
export function isCalendarWord(word: string): boolean {
  const said = plain(word);
  return [said, said.replace(/s$/u, ""), said.replace(PARTS_OF_DAY, "")].some((form) => CALENDAR.has(form));
}

function calendarOf(language: string): string[] {
  const [days, months] = [[...Array(7).keys()], [...Array(12).keys()]];
  return (["long", "short"] as const).flatMap((style) => [
    ...days.map((day) => new Intl.DateTimeFormat(language, { weekday: style, timeZone: "UTC" }).format(Date.UTC(2026, 0, 1 + day))),
    ...months.map((month) => new Intl.DateTimeFormat(language, { month: style, timeZone: "UTC" }).format(Date.UTC(2026, month, 1))),
  ]);
}

/** Without case, accents, dots and a genitive. */
function plain(word: string): string {
  return word
    .toLowerCase()
    .normalize("NFD")
    .replace(/[\p{M}.]/gu, "")
    .replace(/['’]s?$/u, "");
}
