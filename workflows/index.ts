export { campaign } from './campaign.ts';
export { completionNotice, pauseNotice } from './notices.ts';
export { scheduledCampaign } from './scheduled-campaign.ts';
export { webhook } from './webhook.ts';
