// The URIs of the schemas of resources (RFC 7643 section 10.3.1).

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const ENTERPRISE_SCHEMA = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

/** The URI in which case means nothing, as names of attributes are compared. */
export const ENTERPRISE_KEY = ENTERPRISE_SCHEMA.toLowerCase()
