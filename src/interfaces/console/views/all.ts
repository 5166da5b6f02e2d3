import type { View, ViewRequest } from '../core/view.ts';
import { accessView } from './access.ts';
import { accountLimitsView } from './account-limits.ts';
import { callView } from './call.ts';
import { callbacksView } from './callbacks.ts';
import { campaignEventsView } from './campaign-events.ts';
import { campaignFiguresView } from './report.ts';
import { campaignView } from './campaign.ts';
import { campaignsView } from './campaigns.ts';
import { decisionsView } from './decisions.ts';
import { doNotCallView } from './do-not-call.ts';
import { personView } from './person.ts';
import { resultsView } from './results.ts';
import { rowsView } from './rows.ts';
import { searchView } from './search.ts';
import { schedulesView } from './schedules.ts';
import { unresolvedView } from './unresolved.ts';
import { webhooksView } from './webhooks.ts';

export const views: Readonly<Record<string, (request: ViewRequest) => Promise<View>>> = {
  '/': campaignsView,
  '/campaigns/:campaign': campaignView,
  '/campaigns/:campaign/events': campaignEventsView,
  '/campaigns/:campaign/figures': campaignFiguresView,
  '/campaigns/:campaign/rows': rowsView,
  '/campaigns/:campaign/rows/:row': personView,
  '/campaigns/:campaign/rows/:row/calls/:call': callView,
  '/campaigns/:campaign/unresolved': unresolvedView,
  '/campaigns/:campaign/callbacks': callbacksView,
  '/campaigns/:campaign/results': resultsView,
  '/decisions': decisionsView,
  '/do-not-call': doNotCallView,
  '/search': searchView,
  '/schedules': schedulesView,
  '/webhooks': webhooksView,
  '/limits': accountLimitsView,
  '/access': accessView,
};

/** Also posted: a search may be a number, which must be in no address. */
export const searches: Readonly<Record<string, (request: ViewRequest) => Promise<View>>> = {
  '/': campaignsView,
  '/campaigns/:campaign/rows': rowsView,
  '/search': searchView,
  '/do-not-call': doNotCallView,
};

/** Downloads as in the API. A saved report contains its styles. */
export const files = ['downloadResults', 'downloadReport', 'downloadRecording', 'downloadEvidence'] as const;
