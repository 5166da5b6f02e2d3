/** Where a signed URL leads. */
export const conversationPath = '/v1/convai/conversation';
/** Where a conversation token is taken in place of a LiveKit server. */
export const rtcPath = '/v1/convai/rtc';
