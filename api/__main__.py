"""`python -m api`: runs the HTTP API alone."""

from api.server.command import main

if __name__ == "__main__":
    main()
