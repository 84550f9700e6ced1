import { Converter } from "typedoc";

/** Names the modules as they are imported: `maitred`, `maitred/http`. */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.children ?? []) module.name = module.name === "index" ? "maitred" : `maitred/${module.name}`;
  });
}
