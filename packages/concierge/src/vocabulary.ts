/** The words of the catalogue: what an event can be, where it can be, and what a kitchen can do. */

/** Of an event by its start, local to it: before noon, before five, from then on. */
export const PARTS_OF_DAY = ["morning", "afternoon", "evening"] as const;
export type PartOfDay = (typeof PARTS_OF_DAY)[number];

export const KINDS = ["music", "theatre", "sport", "dining"] as const;
export type Kind = (typeof KINDS)[number];

export const GENRES = {
  music: ["jazz", "classical", "opera", "rock", "folk", "electronic", "world"],
  theatre: ["drama", "comedy", "musical", "dance", "puppetry"],
  sport: ["football", "basketball", "tennis", "athletics"],
  dining: ["tasting menu", "seafood", "vegetarian cuisine", "grill", "brunch"],
} as const satisfies Record<Kind, readonly string[]>;
export type Genre = (typeof GENRES)[Kind][number];
export const ALL_GENRES: readonly Genre[] = KINDS.flatMap((kind) => GENRES[kind]);

export function kindOf(genre: Genre): Kind {
  return KINDS.find((kind) => (GENRES[kind] as readonly string[]).includes(genre)) ?? "music";
}

/** City → IANA time zone. All prices are in euros. */
export const CITIES = {
  Lisbon: "Europe/Lisbon",
  Vienna: "Europe/Vienna",
  Hamburg: "Europe/Berlin",
  Dublin: "Europe/Dublin",
  Barcelona: "Europe/Madrid",
} as const;
export type City = keyof typeof CITIES;
export const CITY_NAMES = Object.keys(CITIES) as readonly City[];

export const DIETS = ["vegetarian", "vegan", "halal", "kosher", "pescatarian"] as const;
export type Diet = (typeof DIETS)[number];

/** The allergens that a menu says something about. */
export const ALLERGENS = ["nuts", "gluten", "lactose", "shellfish", "fish", "egg", "soy", "sesame"] as const;
export type Allergen = (typeof ALLERGENS)[number];
