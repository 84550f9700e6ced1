import { attitudeIn } from "maitred/stand-in";
import { says } from "./phrases.js";

/** Whether a memory of a taste tells what somebody would rather not: "cannot stand opera", "bored of jazz". */
export function isDisliked(text: string): boolean {
  return says(text, "dislikes") || attitudeIn(text)?.isAgainst === true;
}
