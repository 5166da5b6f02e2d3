import type { CampaignTimeouts } from '../../workflows/messages.ts';
import type { Config } from '../shared/config.ts';

/** Connect, headers and body limits together: the longest that one request can take. */
export function httpTimeoutMs(config: Config): number {
  return config.SVC_CONNECT_TIMEOUT_MS + config.SVC_HEADERS_TIMEOUT_MS + config.SVC_BODY_TIMEOUT_MS;
}

/** The longest that a POST can take from the step before it: it begins within the posting window. */
export function longestPostMs(config: Config): number {
  return config.CARILLON_POSTING_WINDOW_MS + httpTimeoutMs(config);
}

/** Timeouts of a campaign's activities, from the settings of the process that starts it; the slack is for transactions. */
export function campaignTimeouts(config: Config): CampaignTimeouts {
  return {
    heartbeatMs: config.CARILLON_HEARTBEAT_TIMEOUT_MS,
    submitHeartbeatMs: config.CARILLON_SUBMIT_HEARTBEAT_TIMEOUT_MS,
    // A submit may go on with other batches until its first heartbeat.
    submitMs: beatEveryMs(config.CARILLON_SUBMIT_HEARTBEAT_TIMEOUT_MS) + longestPostMs(config) + config.CARILLON_SUBMIT_SLACK_MS,
    collectMs: config.CARILLON_COLLECT_MAX_MS + 2 * httpTimeoutMs(config) + config.CARILLON_SUBMIT_SLACK_MS,
    shortMs: config.CARILLON_SHORT_TIMEOUT_MS,
  };
}

export function beatEveryMs(timeoutMs: number): number {
  return Math.max(200, Math.floor(timeoutMs / 4));
}
