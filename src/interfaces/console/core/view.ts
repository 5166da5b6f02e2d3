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
  /** Empty without the parameter; the first of repeated ones. */
  query(name: string): string;
  /** Fields of a posted view, which keeps them out of the address; null for GET. */
  sent: URLSearchParams | null;
  cache: ReadCache;
  decisions: number;
  theme: 'light' | 'dark' | null;
  /** Requested by this user within 15 minutes; also for `account`. */
  numbersShown(campaignId: string): boolean;
}

export interface View {
  title: string;
  body: HtmlValue;
  badge?: HtmlValue;
  /** At most one filled button, by state, and a menu of further actions. */
  actions?: HtmlValue;
  meta?: HtmlValue;
  tabs?: HtmlValue;
  /** Default: 200. */
  status?: number;
  /** Outermost first. */
  crumbs?: readonly (readonly [path: string, text: string])[];
  section?: Section;
  /** Campaign whose events refresh the view; `all`: every campaign; default: none. */
  follows?: string;
  /** Refresh interval in ms, for content that changes without events. */
  againMs?: number;
}

export type Section = 'campaigns' | 'search' | 'decisions' | 'do-not-call' | 'schedules' | 'webhooks' | 'limits' | 'access';

/** Whether the user has this role; the page hides buttons that would be refused. */
export function may({ holder }: Pick<ViewRequest, 'holder'>, role: TokenRole): boolean {
  return mayAct(holder.role, role);
}
