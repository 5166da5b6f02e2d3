import type { ApiContext } from '../../api/core/app.ts';
import type { ServiceClock } from '../../../service/port/service-clock.ts';
import type { HtmlValue } from '../../../presentation/html/html.ts';
import { mayAct, type Token, type TokenRole } from '../../../ledger/console/tokens.ts';
import type { ReadCache } from '../../../operations/control/read-cache.ts';

export interface ViewRequest {
  context: ApiContext;
  holder: Token;
  clock: ServiceClock;
  now: number;
  params: Readonly<Record<string, string>>;
  /** From the query; empty where it says nothing. Of a parameter that is given twice, the first counts. */
  query(name: string): string;
  /** What a form has sent that asks for the view by POST, so that it stands in no address; null where it is asked for by GET. */
  sent: URLSearchParams | null;
  cache: ReadCache;
  decisions: number;
  theme: 'light' | 'dark' | null;
  /** Whether whole numbers of this campaign (or of `account`) were asked for by this holder lately. */
  numbersShown(campaignId: string): boolean;
}

export interface View {
  title: string;
  body: HtmlValue;
  badge?: HtmlValue;
  /** At most one filled button, by state, and a menu with what else can be done. */
  actions?: HtmlValue;
  meta?: HtmlValue;
  tabs?: HtmlValue;
  /** 404 where it says that something is not there; default 200. */
  status?: number;
  /** Where it belongs, from the outside in. */
  crumbs?: readonly (readonly [path: string, text: string])[];
  section?: Section;
  /** The campaign whose events change it; `all` for those of every campaign; default: it changes for no event. */
  follows?: string;
  /** Fetched again after so long, in milliseconds, even where no event has come: what it shows changes by itself. */
  againMs?: number;
}

export type Section = 'campaigns' | 'search' | 'decisions' | 'do-not-call' | 'schedules' | 'webhooks' | 'limits' | 'access';

/** Whether the holder may do what takes this role; the page shows no button for what would be refused. */
export function may({ holder }: Pick<ViewRequest, 'holder'>, role: TokenRole): boolean {
  return mayAct(holder.role, role);
}
