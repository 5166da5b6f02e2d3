import type { CampaignEvent } from '../ledger/events.ts';

/** A line of the log as the judge takes it: what it tells is not trusted to have the form that it should. */
export type LoggedEvent = Omit<CampaignEvent, 'data'> & { data?: Record<string, unknown> };
