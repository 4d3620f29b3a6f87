"""Accounts in the memory of this process, for local play and for tests of the use cases."""

from collections.abc import Mapping, Sequence

from service.repository.accounts import Added, Player, Session, Token


class MemoryAccounts:
    """`Accounts`. There are no tokens of older releases, and uses of tokens are not recorded."""

    def __init__(self) -> None:
        self._players: dict[str, Player] = {}
        self._tokens: dict[str, tuple[str, Token]] = {}
        """The player and the token, by digest."""
        self._removed: set[str] = set()
        self._recovery: dict[str, str] = {}
        self._erasing: dict[str, int] = {}
        self._erased: dict[str, int] = {}

    def add(self, player: Player, token_digest: str, token: Token | None = None) -> None:
        self._players[player.id] = player
        self._tokens[token_digest] = player.id, token or Token(created_at=player.created_at)

    def by_token(self, token_digest: str) -> Session | None:
        if token_digest not in self._tokens:
            return None
        player, token = self._tokens[token_digest]
        return Session(self._players[player], frozenset(token.scopes), token.expires_at)

    def remembered(self, token_digest: str) -> Session | None:
        return self.by_token(token_digest)

    def players(self, ids: Sequence[str]) -> Mapping[str, Player]:
        return {known: self._players[known] for known in ids if known in self._players}

    def rename(self, player: Player) -> bool:
        if player.id not in self._players:
            return False
        self._players[player.id] = player
        return True

    def tokens(self, player: str) -> Mapping[str, Token]:
        return {digest: token for digest, (owner, token) in self._tokens.items() if owner == player}

    def add_token(
        self, player: str, token_digest: str, token: Token, limit: int, now: int, earlier: str | None = None
    ) -> Added:
        if player not in self._players:
            return "erased"
        for digest in (earlier or token_digest, token_digest):
            if digest in self.tokens(player):
                return "known"
            if digest in self._removed:
                return "removed"
        for digest, other in self.tokens(player).items():
            if other.has_expired(now):
                self._remove(digest)
        if len(self.tokens(player)) >= limit:
            return "full"
        self._tokens[token_digest] = player, token
        return "added"

    def revoke(self, player: str, by_digest: str, token_digest: str) -> bool:
        if by_digest not in self.tokens(player):
            return by_digest == token_digest
        self._remove(token_digest)
        return True

    def revoke_others(self, player: str, by_digest: str) -> bool:
        if by_digest not in self.tokens(player):
            return False
        self._keep_only(player, by_digest)
        return True

    def recovery_digest(self, player: str) -> str | None:
        return self._recovery.get(player)

    def set_recovery(self, player: str, code_digest: str) -> bool:
        if player not in self._players:
            return False
        self._recovery[player] = code_digest
        return True

    def recover(self, player: str, code_digest: str, token_digest: str, token: Token) -> bool:
        if self._recovery.get(player) != code_digest:
            return False
        self._keep_only(player, "")
        self._tokens[token_digest] = player, token
        return True

    def replace_all(self, player: str, token_digest: str, token: Token) -> bool:
        if player not in self._players:
            return False
        self._keep_only(player, "")
        self._tokens[token_digest] = player, token
        return True

    def begin_erasure(self, player: str, at: int) -> None:
        self._erasing.setdefault(player, at)

    def erase(self, player: str, at: int) -> None:
        del at
        self._keep_only(player, "")
        self._players.pop(player, None)
        self._recovery.pop(player, None)

    def erasing(self) -> Mapping[str, int]:
        return dict(self._erasing)

    def finish_erasure(self, player: str, at: int) -> None:
        self._erased.setdefault(player, at)
        self._erasing.pop(player, None)

    def erased(self) -> Mapping[str, int]:
        return dict(self._erased)

    def in_erasure(self, players: Sequence[str]) -> frozenset[str]:
        return frozenset(players) & (self._erasing.keys() | self._erased.keys())

    def rewrite_files(self) -> None:
        """Do nothing: nothing is stored in files."""

    def adopt(self) -> int:
        return 0

    def _keep_only(self, player: str, digest: str) -> None:
        for other in self.tokens(player).keys() - {digest}:
            self._remove(other)

    def _remove(self, digest: str) -> None:
        self._tokens.pop(digest, None)
        self._removed.add(digest)
