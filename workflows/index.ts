export { campaign } from './campaign.ts';
