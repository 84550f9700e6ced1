import type { CatalogueEvent, Section } from "./catalogue.js";
import { ALLERGENS, type Allergen, DIETS, type Diet, plain } from "./vocabulary.js";

/**
 * What a hard constraint asks of an event, read from the words of the memory, and whether the catalogue says that it is met.
 * `unknown` is not `met`: what the catalogue doesn't say has to be asked.
 */
export type Judgement = { readonly state: "met" } | { readonly state: "broken" | "unknown"; readonly because: string };

const MET: Judgement = { state: "met" };
const broken = (because: string): Judgement => ({ state: "broken", because });
const unknown = (because: string): Judgement => ({ state: "unknown", because });

const STEP_FREE =
  /step.?free|wheelchair|stair|steps\b|lift\b|elevator|ramp|mobility|walk|crutch|rollstuhl|stufenlos|barrierefrei|treppe|fauteuil|escalier|plain.?pied|silla de ruedas|escalera|sin escalones|sedia a rotelle|scale\b|gradini|cadeira de rodas|degraus/;
const HEARING = /hearing|induction|deaf|hard of hearing|t.?coil|schwerhor|horger|induktion|malentendant|sord|boucle|bucle|ipoacus/;
const ASSISTANCE_DOG = /assistance dog|guide dog|service dog|blindenhund|assistenzhund|chien (?:guide|d.assistance)|perro guia|cane guida/;

/** Access: the section's own steps, then the house. */
export function judgeAccess(words: string, event: CatalogueEvent, section: Section): Judgement {
  const text = plain(words);
  const judgements: Judgement[] = [];
  if (STEP_FREE.test(text))
    judgements.push(section.stepFree ? MET : broken(`${section.name} at ${event.venue} is not step-free. ${event.access}`));
  if (HEARING.test(text)) judgements.push(event.hearingLoop ? MET : broken(`${event.venue} has no hearing loop.`));
  if (ASSISTANCE_DOG.test(text)) judgements.push(event.assistanceDogs ? MET : broken(`${event.venue} does not admit assistance dogs.`));
  return worst(judgements) ?? unknown(`The catalogue doesn't say whether ${event.venue} meets this.`);
}

const DIET_WORDS: Readonly<Record<Diet, RegExp>> = {
  vegetarian: /vegetari|vegetarisch|vegetarien/,
  vegan: /vegan|vegano|vegane|vegetalien/,
  halal: /halal/,
  kosher: /kosher|koscher|casher|kasher/,
  pescatarian: /pescatari|pescetari|pesketari/,
};
/** What a diet's menu also serves. */
const SERVED_BY: Readonly<Record<Diet, readonly Diet[]>> = {
  vegetarian: ["vegetarian", "vegan"],
  vegan: ["vegan"],
  halal: ["halal"],
  kosher: ["kosher"],
  pescatarian: ["pescatarian", "vegetarian", "vegan"],
};
const ALLERGEN_WORDS: Readonly<Record<Allergen, RegExp>> = {
  nuts: /\bnuts?\b|peanut|hazelnut|walnut|almond|cashew|pistachio|\bnusse?\b|erdnuss|haselnuss|mandel|\bnoix\b|noisette|arachide|cacahuete|nuez|nueces|frutos secos|noci\b|arachidi|nozes|amendoi/,
  gluten: /gluten|coeliac|celiac|zoliakie|coeliaque|celiac|celiach|wheat|weizen/,
  lactose: /lactose|laktose|lattosio|lactosa|dairy|\bmilk\b|milch|\blait\b|latte\b|leche/,
  shellfish:
    /shellfish|crustacean|prawn|shrimp|lobster|crab\b|mussel|oyster|meeresfruchte|schalentier|fruits de mer|crustaces|marisco|crostacei/,
  fish: /(?<!shell)\bfish\b|fisch\b|poisson|pescado|\bpesce\b|peixe/,
  egg: /\beggs?\b|\beier?\b|\boeufs?\b|\bhuevos?\b|\buov[ao]\b|\bovos?\b/,
  soy: /\bsoya?\b|soja|soia/,
  sesame: /sesame|sesam|sesamo/,
};
const AVOIDS =
  /allerg|intoleran|can.?t (?:eat|have)|cannot (?:eat|have)|avoid|without|free\b|no \w+|vertrag|unvertraglich|coeliac|celiac|zoliakie|coeliaque|celiach|sin \w+|senza|sans|ohne|not eat|doesn.?t eat|never eats|(?:g[ai]ve|giving|given) up|cut(?:ting)? out|stop(?:ped|s)? eating|steers? clear|off (?:the )?\w+/;

/** Food: only where something is served. */
export function judgeDiet(words: string, event: CatalogueEvent): Judgement {
  const { kitchen } = event;
  if (kitchen === null) return MET;
  const text = plain(words);
  const judgements: Judgement[] = [];
  for (const diet of DIETS)
    if (DIET_WORDS[diet].test(text))
      judgements.push(
        SERVED_BY[diet].some((menu) => kitchen.diets.includes(menu)) ? MET : broken(`"${event.title}" offers no ${diet} menu.`),
      );
  if (AVOIDS.test(text))
    for (const allergen of ALLERGENS)
      if (ALLERGEN_WORDS[allergen].test(text))
        judgements.push(
          kitchen.without.includes(allergen)
            ? MET
            : kitchen.contains.includes(allergen)
              ? broken(`"${event.title}" can't be served without ${allergen}.`)
              : unknown(`The menu of "${event.title}" doesn't say whether it can be served without ${allergen}.`),
        );
  return worst(judgements) ?? unknown(`The menu of "${event.title}" says nothing about this.`);
}

function worst(judgements: readonly Judgement[]): Judgement | undefined {
  return judgements.find(({ state }) => state === "broken") ?? judgements.find(({ state }) => state === "unknown") ?? judgements[0];
}
