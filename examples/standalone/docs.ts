import helmet from '@fastify/helmet'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

const SELF = ["'self'"]

/** The reference page: everything on it comes from this service, and nothing else is let in. */
export async function docs (app: FastifyInstance, { path }: { path: string }): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: SELF,
        styleSrc: SELF,
        // Icons are part of the style sheets.
        imgSrc: [...SELF, 'data:'],
        connectSrc: SELF,
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"]
      }
    },
    // Whether there is TLS before this service is its operator's to say.
    strictTransportSecurity: false,
    referrerPolicy: { policy: 'no-referrer' }
  })
  // No service of others is asked whether the description is valid.
  await app.register(swaggerUi, {
    routePrefix: path,
    uiConfig: { layout: 'BaseLayout', validatorUrl: null, deepLinking: true },
    theme: {
      title: 'Users: the API',
      // The line for curl has the key of whoever is signed in, and pages are shown to others and photographed.
      css: [{ filename: 'own.css', content: '.swagger-ui .curl-command { display: none }' }]
    }
  })
}
