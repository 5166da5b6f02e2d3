import { empty, link, viewPath } from './elements.ts';
import { html } from './html.ts';
import type { View } from './view.ts';

/** For an address that names a thing which is not, or no longer, there. */
export function missingView(what: string, listView: string, listName: string): View {
  return {
    title: `No such ${what}`,
    missing: true,
    body: empty(
      `This sandbox has no such ${what}`,
      html`It may be gone with a reset. See ${link(viewPath(listView), listName)}.`,
    ),
  };
}
