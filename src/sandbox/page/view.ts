import { empty, link } from '../../presentation/html/elements.ts';
import { html, type HtmlValue } from '../../presentation/html/html.ts';
import type { ServiceEventType } from '../core/clock/service-events.ts';
import type { Service } from '../core/service/service.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { viewPath } from './elements.ts';

export interface View {
  title: string;
  body: HtmlValue;
  missing?: true;
  /** What changes it, beside calls, the clock, faults and a reset, which change every view. */
  follows?: ServiceEventType[];
  /** It changes while nothing happens: real milliseconds after which it is asked for again. */
  againMs?: number;
}

export interface ViewRequest {
  service: Service;
  webhooks: Webhooks;
  now: number;
  parameter: (name: string) => string;
}

/** For an address that names a thing which is not, or no longer, there. */
export function missingView(what: string, listView: string, listName: string): View {
  return {
    title: `No such ${what}`,
    missing: true,
    body: empty(`This sandbox has no such ${what}`, html`It may be gone with a reset. See ${link(viewPath(listView), listName)}.`),
  };
}
