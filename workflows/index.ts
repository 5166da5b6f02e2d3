export { campaign } from './campaign.ts';
export { scheduledCampaign } from './scheduled-campaign.ts';
