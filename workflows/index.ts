export { campaign } from './campaign.ts';
export { completionNotice } from './completion-notice.ts';
export { pauseNotice } from './pause-notice.ts';
export { scheduledCampaign } from './scheduled-campaign.ts';
export { webhook } from './webhook.ts';
