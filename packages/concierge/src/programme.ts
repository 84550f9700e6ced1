import type { Allergen, City, Diet, Genre } from "./vocabulary.js";

/** Houses, acts and kitchens of the example product. All invented. */

interface SectionPlan {
  readonly name: string;
  /** Of the act's base price. */
  readonly factor: number;
  readonly seats: number;
  readonly stepFree: boolean;
}

interface Venue {
  readonly name: string;
  readonly city: City;
  readonly sections: readonly SectionPlan[];
  readonly hearingLoop: boolean;
  readonly assistanceDogs: boolean;
  /** How one gets in. */
  readonly access: string;
}

export interface Kitchen {
  readonly diets: readonly Diet[];
  /** What every guest can be served without. */
  readonly without: readonly Allergen[];
  /** What can't be left out. */
  readonly contains: readonly Allergen[];
}

export interface Act {
  readonly slug: string;
  readonly title: string;
  readonly artist: string;
  readonly genre: Genre;
  readonly venue: Venue;
  /** 0 is Sunday. */
  readonly weekday: number;
  readonly time: string;
  /** Every how many weeks, and in which of them. */
  readonly every: number;
  readonly phase: number;
  readonly priceEur: number;
  readonly kitchen: Kitchen | null;
}

const SUN = 0;
const TUE = 2;
const WED = 3;
const THU = 4;
const FRI = 5;
const SAT = 6;

function section(name: string, factor: number, seats: number, stepFree: boolean): SectionPlan {
  return { name, factor, seats, stepFree };
}

const LIFT = "Step-free from the street, lift to all levels.";
const STALLS_ONLY = "Step-free to the stalls; the upper levels by stairs only.";
const STAIRS = "Reached by stairs only.";
const GROUND = "Ground floor, no steps.";

function hall(name: string, city: City, lift: boolean): Venue {
  const sections = [section("Stalls", 1, 220, true), section("Circle", 0.75, 160, lift), section("Gallery", 0.5, 90, lift)];
  return { name, city, sections, hearingLoop: true, assistanceDogs: true, access: lift ? LIFT : STALLS_ONLY };
}

function club(name: string, city: City, stepFree: boolean): Venue {
  const sections = [section("Front tables", 1.3, 24, stepFree), section("Tables", 1, 48, stepFree), section("Bar", 0.7, 30, stepFree)];
  return { name, city, sections, hearingLoop: false, assistanceDogs: true, access: stepFree ? GROUND : STAIRS };
}

function stadium(name: string, city: City): Venue {
  const sections = [section("Main stand", 1.4, 600, true), section("Side stand", 1, 900, false), section("Corner", 0.6, 700, false)];
  return { name, city, sections, hearingLoop: true, assistanceDogs: true, access: "Lift to the main stand; other stands by stairs." };
}

function restaurant(name: string, city: City, stepFree: boolean): Venue {
  const sections = [section("Dining room", 1, 40, stepFree), section("Chef's counter", 1.5, 8, stepFree)];
  return { name, city, sections, hearingLoop: false, assistanceDogs: stepFree, access: stepFree ? GROUND : STAIRS };
}

const V = {
  ribeira: hall("Sala da Ribeira Nova", "Lisbon", true),
  azulejo: club("Cave do Azulejo", "Lisbon", false),
  varanda: club("Varanda Azul", "Lisbon", true),
  figueira: hall("Teatro da Figueira Velha", "Lisbon", false),
  cais: stadium("Arena do Cais", "Lisbon"),
  salgada: restaurant("Mesa Salgada", "Lisbon", true),
  kastanien: hall("Kastaniensaal", "Vienna", true),
  rauchfang: club("Zum Blauen Rauchfang", "Vienna", false),
  linden: club("Lindenkeller Nord", "Vienna", true),
  laterne: hall("Theater zur Laterne", "Vienna", false),
  prater: stadium("Ostpark-Stadion", "Vienna"),
  zwetschke: restaurant("Die Zwetschke", "Vienna", true),
  speicher: hall("Speicherhalle Drei", "Hamburg", true),
  nebelhorn: club("Nebelhorn", "Hamburg", true),
  fleet: hall("Fleetbühne", "Hamburg", false),
  elbkurve: stadium("Elbkurve", "Hamburg"),
  kombuse: restaurant("Kombüse Siebzehn", "Hamburg", false),
  harp: hall("The Harp & Heron Hall", "Dublin", true),
  copper: club("The Copper Kettle Rooms", "Dublin", false),
  liffey: club("Liffey Lane", "Dublin", true),
  canal: hall("Canal Street Playhouse", "Dublin", false),
  north: stadium("Northfield Ground", "Dublin"),
  oyster: restaurant("Oyster & Ash", "Dublin", true),
  taronger: hall("Auditori del Taronger", "Barcelona", true),
  gavina: club("La Gavina Baixa", "Barcelona", true),
  mirall: hall("Teatre del Mirall", "Barcelona", false),
  llevant: stadium("Camp de Llevant", "Barcelona"),
  forn: restaurant("Forn de Sal", "Barcelona", true),
} as const;

type Slot = readonly [weekday: number, time: string, every: number, phase: number];

function act(slug: string, title: string, artist: string, genre: Genre, venue: Venue, slot: Slot, priceEur: number): Act {
  const [weekday, time, every, phase] = slot;
  return { slug, title, artist, genre, venue, weekday, time, every, phase, priceEur, kitchen: null };
}

function table(slug: string, title: string, chef: string, genre: Genre, venue: Venue, slot: Slot, priceEur: number, kitchen: Kitchen): Act {
  return { ...act(slug, title, chef, genre, venue, slot, priceEur), kitchen };
}

function kitchen(diets: readonly Diet[], without: readonly Allergen[], contains: readonly Allergen[] = []): Kitchen {
  return { diets, without, contains };
}

export const PROGRAMME: readonly Act[] = [
  // Jazz: on every weekend, in every city.
  act("marta-vale-quartet", "Marta Vale Quartet", "Marta Vale", "jazz", V.varanda, [SAT, "21:30", 1, 0], 32),
  act("night-shift-trio", "Night Shift Trio", "Night Shift Trio", "jazz", V.azulejo, [FRI, "22:00", 1, 0], 24),
  act("tiles-and-tides", "Tiles and Tides Big Band", "Tiles and Tides", "jazz", V.ribeira, [SUN, "18:00", 2, 0], 41),
  act("ottilie-kern", "Ottilie Kern plays Ballads", "Ottilie Kern", "jazz", V.linden, [SAT, "20:30", 1, 0], 36),
  act("blue-chimney", "Blue Chimney Session", "Emil Roth Group", "jazz", V.rauchfang, [FRI, "21:00", 1, 0], 22),
  act("harbour-swing", "Harbour Swing Orchestra", "Harbour Swing Orchestra", "jazz", V.speicher, [SAT, "19:30", 2, 1], 45),
  act("foghorn-five", "The Foghorn Five", "The Foghorn Five", "jazz", V.nebelhorn, [SUN, "19:00", 1, 0], 28),
  act("aoife-brannock", "Aoife Brannock Trio", "Aoife Brannock", "jazz", V.liffey, [SAT, "20:00", 1, 0], 30),
  act("copper-jam", "Copper Kettle Late Set", "House Quintet", "jazz", V.copper, [FRI, "23:00", 1, 0], 18),
  act("nuria-solans", "Núria Solans & Strings", "Núria Solans", "jazz", V.gavina, [SUN, "20:00", 1, 0], 34),
  act("salt-and-brass", "Salt and Brass", "Salt and Brass", "jazz", V.gavina, [THU, "21:30", 2, 0], 26),
  // Classical and opera.
  act(
    "ribeira-philharmonic",
    "Ribeira Philharmonic: Sea Pictures",
    "Ribeira Philharmonic",
    "classical",
    V.ribeira,
    [FRI, "20:00", 2, 1],
    52,
  ),
  act("kastanien-quartet", "An Evening of Quartets", "Kastanien Quartet", "classical", V.kastanien, [SAT, "19:00", 1, 0], 58),
  act("piano-marathon", "Three Pianos, One Night", "Lea Vonwald", "classical", V.speicher, [SUN, "17:00", 2, 0], 39),
  act("harp-and-oboe", "Harp and Oboe", "Heron Chamber Players", "classical", V.harp, [SUN, "16:00", 1, 0], 35),
  act("orange-court-choir", "Orange Court Choir", "Cor del Taronger", "classical", V.taronger, [SAT, "20:00", 2, 0], 33),
  act("the-glass-orchard", "The Glass Orchard", "Laterne Opera", "opera", V.kastanien, [FRI, "19:00", 1, 0], 89),
  act("queen-of-salt", "The Queen of Salt", "Companhia Maré", "opera", V.ribeira, [SAT, "19:30", 2, 0], 74),
  act("the-lighthouse-bride", "The Lighthouse Bride", "Speicher Opera", "opera", V.speicher, [FRI, "19:30", 2, 0], 69),
  act("the-tailor-of-the-moon", "The Tailor of the Moon", "Òpera del Mirall", "opera", V.taronger, [SUN, "18:00", 2, 1], 77),
  act("the-heron-king", "The Heron King", "Harp Hall Opera", "opera", V.harp, [SAT, "19:00", 2, 1], 66),
  // Rock, folk, electronic, world.
  act("paper-lions", "Paper Lions", "Paper Lions", "rock", V.cais, [SAT, "21:00", 2, 1], 48),
  act("velvet-tram", "Velvet Tram", "Velvet Tram", "rock", V.linden, [THU, "20:30", 1, 0], 29),
  act("cold-harbour", "Cold Harbour", "Cold Harbour", "rock", V.nebelhorn, [FRI, "21:00", 1, 0], 31),
  act("brass-monkeys-union", "Brass Monkeys Union", "Brass Monkeys Union", "rock", V.liffey, [FRI, "20:30", 2, 0], 27),
  act("sol-electric", "Sol Elèctric", "Sol Elèctric", "rock", V.llevant, [SAT, "22:00", 2, 0], 44),
  act("the-two-ferrymen", "The Two Ferrymen", "The Two Ferrymen", "folk", V.copper, [WED, "20:00", 1, 0], 20),
  act("hollow-hill-ceili", "Hollow Hill Session", "Hollow Hill", "folk", V.harp, [THU, "20:00", 2, 0], 24),
  act("north-sea-songs", "North Sea Songs", "Inken Paulsen", "folk", V.nebelhorn, [WED, "20:00", 2, 1], 19),
  act("warehouse-dawn", "Warehouse Until Dawn", "Kollektiv Pegel", "electronic", V.speicher, [SAT, "23:30", 2, 0], 25),
  act("mirror-drift", "Mirror Drift", "Mirror Drift", "electronic", V.gavina, [FRI, "23:30", 1, 0], 22),
  act("fado-at-the-balcony", "Voices on the Balcony", "Dulce Amaro", "world", V.varanda, [THU, "21:00", 1, 0], 27),
  act("drums-of-the-delta", "Drums of the Delta", "Delta Circle", "world", V.kastanien, [SUN, "19:30", 2, 1], 37),
  act("rumba-de-mar", "Rumba de Mar", "Família Roig", "world", V.gavina, [SAT, "21:00", 1, 0], 24),
  // Theatre.
  act("the-last-cartographer", "The Last Cartographer", "Figueira Ensemble", "drama", V.figueira, [FRI, "20:30", 1, 0], 28),
  act("winter-letters", "Winter Letters", "Laterne Ensemble", "drama", V.laterne, [SAT, "19:30", 1, 0], 42),
  act("a-room-by-the-canal", "A Room by the Canal", "Canal Street Company", "drama", V.canal, [SUN, "15:00", 1, 0], 34),
  act("salt-bread", "Salt Bread", "Companyia Mirall", "drama", V.mirall, [THU, "20:00", 1, 0], 30),
  act("the-wrong-suitcase", "The Wrong Suitcase", "Fleetbühne", "comedy", V.fleet, [SAT, "20:00", 1, 0], 33),
  act("three-aunts", "Three Aunts and a Funeral Cake", "Canal Street Company", "comedy", V.canal, [FRI, "19:30", 1, 0], 31),
  act("laughing-matters", "Laughing Matters", "Rita Campos", "comedy", V.azulejo, [WED, "21:30", 1, 0], 18),
  act("skyline", "Skyline: the Musical", "Fleet Musical Company", "musical", V.fleet, [SUN, "18:00", 1, 0], 55),
  act("the-ferris-girl", "The Ferris Girl", "Laterne Musical Company", "musical", V.laterne, [FRI, "19:30", 1, 0], 59),
  act("tides", "Tides", "Corpo Vivo", "dance", V.figueira, [SUN, "17:00", 1, 0], 29),
  act("paper-birds", "Paper Birds", "Dansa Lenta", "dance", V.mirall, [SAT, "20:30", 2, 0], 32),
  act("the-tin-bear", "The Tin Bear", "Puppet Workshop", "puppetry", V.canal, [SAT, "11:00", 1, 0], 14),
  act("moonboat", "The Moon Boat", "Ninot Petit", "puppetry", V.mirall, [SUN, "11:30", 2, 1], 12),
  // Sport.
  act("cais-united", "Cais United against Miradouro", "Cais United", "football", V.cais, [SUN, "19:00", 2, 0], 26),
  act("ostpark-derby", "Ostpark against Donauwacht", "FC Ostpark", "football", V.prater, [SAT, "17:30", 2, 0], 29),
  act("elbkurve-league", "Elbkurve against Alsterbund", "SV Elbkurve", "football", V.elbkurve, [SAT, "15:30", 2, 1], 31),
  act("northfield-rovers", "Northfield Rovers against Strand", "Northfield Rovers", "football", V.north, [FRI, "19:45", 2, 1], 22),
  act("llevant-baskets", "Llevant against Tramuntana", "Llevant Bàsquet", "basketball", V.llevant, [SUN, "12:00", 1, 0], 21),
  act("donau-hoops", "Donau Hoops Night", "Donau Hoops", "basketball", V.prater, [TUE, "19:00", 1, 0], 17),
  act("harbour-open", "Harbour Open, day session", "Harbour Open", "tennis", V.elbkurve, [SUN, "11:00", 2, 0], 38),
  act("evening-mile", "The Evening Mile", "City Athletics", "athletics", V.north, [THU, "18:30", 2, 0], 11),
  // Dining.
  table(
    "seven-courses-by-the-river",
    "Seven Courses by the River",
    "Chef Joana Prado",
    "tasting menu",
    V.salgada,
    [FRI, "20:00", 1, 0],
    85,
    kitchen(["vegetarian", "pescatarian"], ["nuts", "gluten", "lactose"], ["fish"]),
  ),
  table(
    "catch-of-the-day",
    "Catch of the Day Supper",
    "Chef Joana Prado",
    "seafood",
    V.salgada,
    [SUN, "13:00", 1, 0],
    48,
    kitchen(["pescatarian"], ["gluten", "nuts"], ["fish", "shellfish"]),
  ),
  table(
    "plum-tasting",
    "The Plum Room Tasting",
    "Chef Moritz Adler",
    "tasting menu",
    V.zwetschke,
    [SAT, "19:00", 1, 0],
    92,
    kitchen(["vegetarian", "vegan"], ["gluten", "lactose", "shellfish"], ["nuts"]),
  ),
  table(
    "garden-table",
    "The Garden Table",
    "Chef Ines Holm",
    "vegetarian cuisine",
    V.zwetschke,
    [THU, "19:00", 1, 0],
    54,
    kitchen(["vegetarian", "vegan", "halal", "kosher"], ["nuts", "gluten", "lactose", "egg", "shellfish", "fish"]),
  ),
  table(
    "galley-grill",
    "Galley Grill",
    "Chef Bente Friis",
    "grill",
    V.kombuse,
    [SAT, "19:00", 1, 0],
    57,
    kitchen(["halal"], ["nuts", "gluten", "shellfish", "fish"], ["lactose"]),
  ),
  table(
    "pier-brunch",
    "Pier Brunch",
    "Chef Bente Friis",
    "brunch",
    V.kombuse,
    [SUN, "10:30", 1, 0],
    29,
    kitchen(["vegetarian", "vegan"], ["lactose"], ["gluten", "egg", "nuts"]),
  ),
  table(
    "ash-and-tide",
    "Ash and Tide",
    "Chef Conor Tighe",
    "seafood",
    V.oyster,
    [FRI, "19:00", 1, 0],
    76,
    kitchen(["pescatarian"], ["gluten", "nuts", "lactose"], ["shellfish", "fish"]),
  ),
  table(
    "hearth-menu",
    "The Hearth Menu",
    "Chef Conor Tighe",
    "grill",
    V.oyster,
    [SUN, "14:00", 1, 0],
    49,
    kitchen(["vegetarian", "halal"], ["nuts", "gluten", "shellfish", "fish", "sesame"]),
  ),
  table(
    "salt-oven-tasting",
    "Salt Oven Tasting",
    "Chef Laia Ferrer",
    "tasting menu",
    V.forn,
    [SAT, "21:00", 1, 0],
    88,
    kitchen(["vegetarian", "vegan", "pescatarian"], ["nuts", "gluten", "lactose", "shellfish", "egg"]),
  ),
  table(
    "sunday-market-lunch",
    "Sunday Market Lunch",
    "Chef Laia Ferrer",
    "vegetarian cuisine",
    V.forn,
    [SUN, "14:30", 1, 0],
    36,
    kitchen(["vegetarian", "vegan"], ["gluten", "lactose", "nuts", "fish", "shellfish"]),
  ),
];
