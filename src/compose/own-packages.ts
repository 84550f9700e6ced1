import { AppError } from "../platform/errors.js";

/**
 * What a package of Maitred's own exports, which an installation may do without.
 * @param setting what asks for it, as a person set it
 * @throws INVALID_CONFIG with the command that installs it
 */
export async function fromPackage<T>(name: string, setting: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new AppError("INVALID_CONFIG", {
      detail: `${setting} needs the package ${name}, which can't be loaded.`,
      hint: `Run \`npm install ${name}\`.`,
      cause,
    });
  }
}
