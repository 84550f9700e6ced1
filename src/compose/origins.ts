import { text } from "./variable.js";

/** The origins of a list with commas, without the blanks around them. */
export function originsOf(list: string): readonly string[] {
  return list
    .split(",")
    .map((origin) => origin.trim())
    .filter((origin) => origin !== "");
}

/** A list of origins as text, each as browsers send it: what is written in another way would match none. */
export const originList = text.superRefine((list, context) => {
  for (const origin of originsOf(list))
    if (!isOrigin(origin))
      context.addIssue({
        code: "custom",
        message: `"${origin.slice(0, 100)}" is no origin; one is a scheme, a host and perhaps a port, such as https://shop.example`,
      });
});

/** As browsers write it: lower case, no path, no port that goes without saying. Of other schemes (`capacitor://`) the same form. */
function isOrigin(given: string): boolean {
  if (given.includes("*")) return false;
  const scheme = given.slice(0, given.indexOf("://"));
  if (scheme === "http" || scheme === "https") return URL.canParse(given) && new URL(given).origin === given;
  return /^[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#@]{1,255}$/.test(given);
}
