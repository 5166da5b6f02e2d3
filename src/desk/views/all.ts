import type { View, ViewRequest } from '../core/view.ts';
import { campaignView } from './campaign.ts';
import { campaignsView } from './campaigns.ts';

/** The views by their address. */
export const views: Readonly<Record<string, (request: ViewRequest) => Promise<View>>> = {
  '/': campaignsView,
  '/campaigns/:campaign': campaignView,
};
